// SPDX-License-Identifier: BSD-3-Clause
// Two tables, made by the compiler.
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <array>

namespace tokenizers::detail {

namespace {

constexpr bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t kFirst = 0x100;
constexpr size_t kOthers = 68;

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = kFirst;
  for (int byte = 0; byte < 256; ++byte) {
    characters[byte] = is_printable(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return characters;
}
constexpr std::array<char32_t, 256> kCharacters = make_characters();

constexpr std::array<int16_t, kFirst + kOthers> make_bytes() {
  std::array<int16_t, kFirst + kOthers> bytes{};
  for (auto& byte : bytes) {
    byte = -1;
  }
  for (int byte = 0; byte < 256; ++byte) {
    bytes[kCharacters[byte]] = static_cast<int16_t>(byte);
  }
  return bytes;
}
constexpr std::array<int16_t, kFirst + kOthers> kBytes = make_bytes();

}  // namespace

char32_t byte_to_character(unsigned char byte) {
  return kCharacters[byte];
}

std::string to_byte_characters(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    append_utf8(kCharacters[static_cast<uint8_t>(byte)], out);
  }
  return out;
}

std::optional<std::string> from_byte_characters(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
    const char32_t code = code_point(text, at);
    if (code >= kBytes.size() || kBytes[code] < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(kBytes[code]);
  }
  return out;
}

}  // namespace tokenizers::detail
