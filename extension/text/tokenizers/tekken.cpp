// SPDX-License-Identifier: BSD-3-Clause
// tekken.json: ranks behind a block of special tokens.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <executorch/extension/text/tokenizers/parts/tekken_json.h>
#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <pytorch/tokenizers/base64.h>
#include <pytorch/tokenizers/tekken.h>

#include <algorithm>
#include <utility>

namespace tokenizers {

using detail::BadPart;
using detail::RankedBytes;
using Json = nlohmann::json;

namespace {

using SpecialTokens = std::vector<Tekken::SpecialTokenInfo>;

constexpr const char* kDefaultSpecialTokens[] = {"<unk>",
                                                 "<s>",
                                                 "</s>",
                                                 "[INST]",
                                                 "[/INST]",
                                                 "[AVAILABLE_TOOLS]",
                                                 "[/AVAILABLE_TOOLS]",
                                                 "[TOOL_RESULTS]",
                                                 "[/TOOL_RESULTS]",
                                                 "[TOOL_CALLS]",
                                                 "[IMG]",
                                                 "<pad>",
                                                 "[IMG_BREAK]",
                                                 "[IMG_END]",
                                                 "[PREFIX]",
                                                 "[MIDDLE]",
                                                 "[SUFFIX]",
                                                 "[SYSTEM_PROMPT]",
                                                 "[/SYSTEM_PROMPT]",
                                                 "[TOOL_CONTENT]"};

SpecialTokens default_special_tokens() {
  SpecialTokens tokens;
  for (const char* text : kDefaultSpecialTokens) {
    tokens.push_back({tokens.size(), text, true});
  }
  return tokens;
}

SpecialTokens special_tokens_of(const Json& list) {
  SpecialTokens tokens;
  for (const Json& entry : list) {
    tokens.push_back({detail::field<uint64_t>(entry, "rank"),
                      detail::field<std::string>(entry, "token_str"),
                      detail::field_or(entry, "is_control", false)});
  }
  return tokens;
}

Tekken::TekkenConfig config_of(const Json& file) {
  const Json& part = detail::part_of(file, "config");
  return {detail::field<std::string>(part, "pattern"),
          detail::field<size_t>(part, "num_vocab_tokens"),
          detail::field<size_t>(part, "default_vocab_size"),
          detail::field<size_t>(part, "default_num_special_tokens"),
          detail::field_or<std::string>(part, "version", "")};
}

Error add_specials(const SpecialTokens& tokens, size_t count, RankedBytes& out) {
  std::vector<std::string> names(count);
  for (const auto& token : tokens) {
    TK_CHECK_OR_RETURN_ERROR(token.rank < count && names[token.rank].empty(), ParseFailure,
                             "special token %s: expected each rank below %zu once, got %llu",
                             token.token_str.c_str(), count,
                             static_cast<unsigned long long>(token.rank));
    names[token.rank] = token.token_str;
  }
  for (uint32_t id = 0; id < count; ++id) {
    const bool is_named = !names[id].empty();
    TK_CHECK_OK_OR_RETURN_ERROR(out.add_special(
        is_named ? names[id] : "<SPECIAL_" + std::to_string(id) + ">", id, is_named));
  }
  return Error::Ok;
}

Error add_tokens(const detail::TekkenJson& file, size_t count, RankedBytes& out) {
  TK_CHECK_OR_RETURN_ERROR(count <= file.tokens.size(), ParseFailure,
                           "expected at least %zu entries in vocab, found %zu", count,
                           file.tokens.size());
  out.reserve(count, file.texts.size());
  for (size_t i = 0; i < file.tokens.size(); ++i) {
    TK_CHECK_OR_RETURN_ERROR(file.tokens[i].rank == i, ParseFailure,
                             "vocab[%zu]: expected rank %zu, got %llu", i, i,
                             static_cast<unsigned long long>(file.tokens[i].rank));
  }
  for (size_t i = 0; i < count; ++i) {
    auto bytes = base64::decode(file.text(file.tokens[i]));
    TK_CHECK_OR_RETURN_ERROR(bytes.ok(), Base64DecodeFailure, "vocab[%zu]: bad base64", i);
    TK_CHECK_OK_OR_RETURN_ERROR(out.add(*bytes, static_cast<uint32_t>(i)));
  }
  return Error::Ok;
}

}  // namespace

Tekken::Tekken() = default;
Tekken::~Tekken() = default;

Error Tekken::load(const std::string& tokenizer_path) {
  return load_with_special_tokens(tokenizer_path, default_special_tokens());
}

Error Tekken::load_with_special_tokens(const std::string& tokenizer_path,
                                       const std::vector<SpecialTokenInfo>& special_tokens) {
  std::string bytes;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::read_file(tokenizer_path, bytes));
  detail::TekkenJson file;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::parse_tekken_json(bytes, file));
  TekkenConfig config;
  SpecialTokens specials = special_tokens;
  try {
    config = config_of(file.rest);
    const Json& listed = detail::part_of(file.rest, "special_tokens");
    specials = listed.is_null() ? specials : special_tokens_of(listed);
  } catch (const BadPart& why) {
    TK_LOG(Error, "cannot use %s: %s", tokenizer_path.c_str(), why.what());
    return Error::ParseFailure;
  }
  const size_t num_special = config.default_num_special_tokens;
  TK_CHECK_OR_RETURN_ERROR(
      num_special <= config.default_vocab_size && config.default_vocab_size < size_t{1} << 28,
      ParseFailure, "expected default_num_special_tokens up to default_vocab_size, got %zu and %zu",
      num_special, config.default_vocab_size);
  auto vocabulary = std::make_unique<RankedBytes>(static_cast<uint32_t>(num_special));
  TK_CHECK_OK_OR_RETURN_ERROR(
      add_tokens(file, config.default_vocab_size - num_special, *vocabulary));
  TK_CHECK_OK_OR_RETURN_ERROR(add_specials(specials, num_special, *vocabulary));
  TK_CHECK_OK_OR_RETURN_ERROR(vocabulary->compile(config.pattern));
  const auto bos = vocabulary->special("<s>"), eos = vocabulary->special("</s>");
  TK_CHECK_OR_RETURN_ERROR(bos && eos, LoadFailure, "%s: expected special tokens <s> and </s>",
                           tokenizer_path.c_str());
  bos_tok_ = *bos;
  eos_tok_ = *eos;
  vocab_size_ = static_cast<int32_t>(config.default_vocab_size);
  version_ = std::move(config.version);
  vocabulary_ = std::move(vocabulary);
  initialized_ = true;
  return Error::Ok;
}

}  // namespace tokenizers
