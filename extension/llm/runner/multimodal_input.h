// SPDX-License-Identifier: BSD-3-Clause
// MultimodalInput: one piece of a prompt, of any kind.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <executorch/extension/llm/runner/audio.h>
#include <executorch/extension/llm/runner/image.h>

namespace executorch::extension::llm {

// Owns what it was made from. get_x() of another kind throws std::bad_variant_access; try_get_x()
// is null then.
class MultimodalInput {
 public:
  enum class Type { TEXT, TOKENS, IMAGE, AUDIO, RAW_AUDIO, UNSUPPORTED };

  explicit MultimodalInput(std::string text) : data_(std::move(text)) {}
  explicit MultimodalInput(std::vector<uint64_t> tokens) : data_(std::move(tokens)) {}
  explicit MultimodalInput(Image image) : data_(std::move(image)) {}
  explicit MultimodalInput(Audio audio) : data_(std::move(audio)) {}
  explicit MultimodalInput(RawAudio raw_audio) : data_(std::move(raw_audio)) {}

  bool is_text() const { return holds<std::string>(); }
  bool is_tokens() const { return holds<std::vector<uint64_t>>(); }
  bool is_image() const { return holds<Image>(); }
  bool is_audio() const { return holds<Audio>(); }
  bool is_raw_audio() const { return holds<RawAudio>(); }

  Type get_type() const {
    return data_.valueless_by_exception() ? Type::UNSUPPORTED : static_cast<Type>(data_.index());
  }
  static const char* TypeName(Type t) {
    switch (t) {
      case Type::TEXT:
        return "text";
      case Type::TOKENS:
        return "tokens";
      case Type::IMAGE:
        return "image";
      case Type::AUDIO:
        return "audio";
      case Type::RAW_AUDIO:
        return "raw_audio";
      case Type::UNSUPPORTED:
        break;
    }
    return "unknown";
  }
  static std::string TypeToString(Type t) { return TypeName(t); }
  const char* type_name() const { return TypeName(get_type()); }

  const std::string& get_text() const& { return std::get<std::string>(data_); }
  std::string& get_text() & { return std::get<std::string>(data_); }
  std::string&& get_text() && { return std::get<std::string>(std::move(data_)); }
  const std::vector<uint64_t>& get_tokens() const& {
    return std::get<std::vector<uint64_t>>(data_);
  }
  std::vector<uint64_t>& get_tokens() & { return std::get<std::vector<uint64_t>>(data_); }
  std::vector<uint64_t>&& get_tokens() && {
    return std::get<std::vector<uint64_t>>(std::move(data_));
  }
  const Image& get_image() const& { return std::get<Image>(data_); }
  Image& get_image() & { return std::get<Image>(data_); }
  Image&& get_image() && { return std::get<Image>(std::move(data_)); }
  const Audio& get_audio() const& { return std::get<Audio>(data_); }
  Audio& get_audio() & { return std::get<Audio>(data_); }
  Audio&& get_audio() && { return std::get<Audio>(std::move(data_)); }
  const RawAudio& get_raw_audio() const& { return std::get<RawAudio>(data_); }
  RawAudio& get_raw_audio() & { return std::get<RawAudio>(data_); }
  RawAudio&& get_raw_audio() && { return std::get<RawAudio>(std::move(data_)); }

  const std::string* try_get_text() const { return std::get_if<std::string>(&data_); }
  std::string* try_get_text() { return std::get_if<std::string>(&data_); }
  const std::vector<uint64_t>* try_get_tokens() const {
    return std::get_if<std::vector<uint64_t>>(&data_);
  }
  std::vector<uint64_t>* try_get_tokens() { return std::get_if<std::vector<uint64_t>>(&data_); }
  const Image* try_get_image() const { return std::get_if<Image>(&data_); }
  Image* try_get_image() { return std::get_if<Image>(&data_); }
  const Audio* try_get_audio() const { return std::get_if<Audio>(&data_); }
  Audio* try_get_audio() { return std::get_if<Audio>(&data_); }
  const RawAudio* try_get_raw_audio() const { return std::get_if<RawAudio>(&data_); }
  RawAudio* try_get_raw_audio() { return std::get_if<RawAudio>(&data_); }

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }

  // In the order of Type.
  std::variant<std::string, std::vector<uint64_t>, Image, Audio, RawAudio> data_;
};

inline MultimodalInput make_text_input(std::string text) {
  return MultimodalInput(std::move(text));
}
inline MultimodalInput make_token_input(std::vector<uint64_t> tokens) {
  return MultimodalInput(std::move(tokens));
}
inline MultimodalInput make_image_input(Image image) {
  return MultimodalInput(std::move(image));
}
inline MultimodalInput make_audio_input(Audio audio) {
  return MultimodalInput(std::move(audio));
}
inline MultimodalInput make_raw_audio_input(RawAudio raw_audio) {
  return MultimodalInput(std::move(raw_audio));
}

}  // namespace executorch::extension::llm
