// SPDX-License-Identifier: BSD-3-Clause
// The files around a pipeline: where it is read from, and which tokens begin and end a text.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/hf_pipeline.h>
#include <executorch/extension/text/tokenizers/parts/search.h>
#include <pytorch/tokenizers/hf_tokenizer.h>

#include <optional>
#include <utility>

namespace tokenizers {

using detail::AddedToken;
using detail::HFPipeline;
using Json = nlohmann::json;

namespace {

constexpr size_t kMaxBytes = size_t{1}
                             << 30;  // places in a text are 32 bits, also after it has grown

/// An optional file beside tokenizer.json: null when it is not there or is not JSON.
Json read_beside(const std::string& path) {
  std::string bytes;
  if (!detail::is_file(path) || detail::read_file(path, bytes) != Error::Ok) {
    return nullptr;
  }
  Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded()) {
    TK_LOG(Error, "%s is not JSON and counts as absent", path.c_str());
    return nullptr;
  }
  return json;
}

/// The id that a configuration's "bos_token" or "eos_token" names, when it is an added token.
std::optional<uint64_t> configured(const Json& config, const char* key,
                                   const HFPipeline& pipeline) {
  const Json& named = detail::part_of(config, key);
  const Json& content = named.is_object() ? detail::part_of(named, "content") : named;
  if (!content.is_string()) {
    return std::nullopt;
  }
  const AddedToken* token = pipeline.added().of_content(content.get<std::string>());
  return token == nullptr ? std::nullopt : std::optional<uint64_t>(token->id);
}

/// The one added token whose name has one of two words; of several, the one that also has "text".
std::optional<uint64_t> guessed(const char* word, const char* other, const HFPipeline& pipeline) {
  std::vector<const AddedToken*> found, of_text;
  for (const AddedToken& token : pipeline.added().all()) {
    const bool has_word = token.content.find(word) != std::string::npos ||
                          token.content.find(other) != std::string::npos;
    if (has_word) {
      found.push_back(&token);
    }
    if (has_word && token.content.find("text") != std::string::npos) {
      of_text.push_back(&token);
    }
  }
  const auto& left = found.size() > 1 ? of_text : found;
  return left.size() == 1 ? std::optional<uint64_t>(left[0]->id) : std::nullopt;
}

}  // namespace

HFTokenizer::HFTokenizer() = default;
HFTokenizer::~HFTokenizer() = default;

Error HFTokenizer::load(const std::string& path) {
  const std::string folder = detail::is_folder(path) ? path + "/" : "";
  const std::string file = folder.empty() ? path : folder + "tokenizer.json";
  std::string bytes;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::read_file(file, bytes));
  std::unique_ptr<HFPipeline> pipeline;
  try {
    detail::TokenizerJson json;
    TK_CHECK_OK_OR_RETURN_ERROR(detail::parse_tokenizer_json(bytes, json));
    pipeline = std::make_unique<HFPipeline>(json);
  } catch (const std::exception& why) {
    TK_LOG(Error, "cannot use %s: %s", file.c_str(), why.what());
    return Error::LoadFailure;
  }
  std::optional<uint64_t> bos, eos;
  if (!folder.empty()) {
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      const Json config = read_beside(folder + name);
      bos = bos ? bos : configured(config, "bos_token", *pipeline);
      eos = eos ? eos : configured(config, "eos_token", *pipeline);
    }
  }
  bos = bos ? bos : guessed("bos", "begin", *pipeline);
  eos = eos ? eos : guessed("eos", "end", *pipeline);
  bos_tok_ = bos ? *bos : eos.value_or(0);
  eos_tok_ = eos ? *eos : bos_tok_;
  vocab_size_ = static_cast<int32_t>(pipeline->size());
  pipeline_ = std::move(pipeline);
  initialized_ = true;
  return Error::Ok;
}

Result<std::vector<uint64_t>> HFTokenizer::encode(const std::string& input, int8_t bos,
                                                  int8_t eos) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "encode before load");
  TK_CHECK_OR_RETURN_ERROR(input.size() <= kMaxBytes, EncodeFailure,
                           "expected a text of at most %zu bytes, got %zu", kMaxBytes,
                           input.size());
  try {
    return pipeline_->encode(input, bos > 0 || eos > 0);
  } catch (const detail::MatchFailure& why) {
    TK_LOG(Error, "cannot encode a text of %zu bytes: %s", input.size(), why.what());
    return Error::EncodeFailure;
  }
}

Result<std::string> HFTokenizer::decode(uint64_t prev_token, uint64_t token,
                                        bool skip_special_tokens) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  auto text = pipeline_->decode_next(prev_token, token, skip_special_tokens);
  TK_CHECK_OR_RETURN_ERROR(text.has_value(), DecodeFailure, "no token has the id %llu",
                           static_cast<unsigned long long>(token));
  return std::move(*text);
}

Result<std::string> HFTokenizer::decode(const std::vector<uint64_t>& tokens,
                                        bool skip_special_tokens) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  auto text = pipeline_->decode(tokens, skip_special_tokens);
  TK_CHECK_OR_RETURN_ERROR(text.has_value(), DecodeFailure,
                           "an id of the %zu has no token: expected those of a vocabulary of %d",
                           tokens.size(), vocab_size_);
  return std::move(*text);
}

Result<std::string> HFTokenizer::id_to_piece(uint64_t token) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "id_to_piece before load");
  auto piece = pipeline_->piece(token);
  TK_CHECK_OR_RETURN_ERROR(piece.has_value(), DecodeFailure, "no token has the id %llu",
                           static_cast<unsigned long long>(token));
  return std::move(*piece);
}

Result<uint64_t> HFTokenizer::piece_to_id(const std::string& text) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "piece_to_id before load");
  const auto id = pipeline_->id(text);
  TK_CHECK_OR_RETURN_ERROR(id.has_value(), EncodeFailure, "no token is %s", text.c_str());
  return *id;
}

}  // namespace tokenizers
