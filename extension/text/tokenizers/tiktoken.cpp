// SPDX-License-Identifier: BSD-3-Clause
// Lines of base64 and ranks.
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <pytorch/tokenizers/base64.h>
#include <pytorch/tokenizers/tiktoken.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tokenizers {

using detail::RankedBytes;

namespace {

// Llama 3's.
constexpr const char kPattern[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

std::string reserved(size_t number) {
  return "<|reserved_special_token_" + std::to_string(number) + "|>";
}

std::vector<std::string> default_special_tokens() {
  std::vector<std::string> tokens = {"<|begin_of_text|>",
                                     "<|end_of_text|>",
                                     reserved(0),
                                     reserved(1),
                                     "<|finetune_right_pad_id|>",
                                     "<|step_id|>",
                                     "<|start_header_id|>",
                                     "<|end_header_id|>",
                                     "<|eom_id|>",
                                     "<|eot_id|>",
                                     "<|python_tag|>"};
  for (size_t number = 2; tokens.size() < kSpecialTokensSize; ++number) {
    tokens.push_back(reserved(number));
  }
  return tokens;
}

Error add_line(std::string_view line, size_t number, RankedBytes& out) {
  const size_t space = line.find(' ');
  TK_CHECK_OR_RETURN_ERROR(space != std::string_view::npos, ParseFailure,
                           "line %zu: expected \"<base64> <rank>\", found no space", number);
  auto token = base64::decode(line.substr(0, space));
  TK_CHECK_OR_RETURN_ERROR(token.ok(), Base64DecodeFailure, "line %zu: bad base64", number);
  uint32_t rank = 0;
  const char* end = line.data() + line.size();
  const auto [stop, code] = std::from_chars(line.data() + space + 1, end, rank);
  TK_CHECK_OR_RETURN_ERROR(code == std::errc() && stop == end, EncodeFailure,
                           "line %zu: expected a rank after the space", number);
  // Memory is by rank.
  TK_CHECK_OR_RETURN_ERROR(rank < 16 * (number + (size_t{1} << 16)), ParseFailure,
                           "line %zu: expected ranks from 0 up, got %u", number, rank);
  return out.add(*token, rank);
}

Error add_lines(std::string_view text, RankedBytes& out) {
  out.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')), text.size());
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (!line.empty()) {
      TK_CHECK_OK_OR_RETURN_ERROR(add_line(line, number, out));
    }
  }
  TK_CHECK_OR_RETURN_ERROR(out.num_tokens() > 0, LoadFailure,
                           "expected lines of tokens, found none");
  TK_CHECK_OR_RETURN_ERROR(out.end_of_ranks() == out.num_tokens(), ParseFailure,
                           "expected ranks 0 to %zu, found one of %zu", out.num_tokens() - 1,
                           out.end_of_ranks() - 1);
  return Error::Ok;
}

}  // namespace

Tiktoken::Tiktoken() : Tiktoken(default_special_tokens(), kBOSTokenIndex, kEOSTokenIndex) {}
Tiktoken::Tiktoken(std::unique_ptr<std::vector<std::string>> special_tokens, size_t bos_token_index,
                   size_t eos_token_index)
    : Tiktoken(kPattern, std::move(special_tokens), bos_token_index, eos_token_index) {}
Tiktoken::Tiktoken(const std::vector<std::string>& special_tokens, size_t bos_token_index,
                   size_t eos_token_index)
    : Tiktoken(kPattern, special_tokens, bos_token_index, eos_token_index) {}
Tiktoken::Tiktoken(std::string pattern, std::unique_ptr<std::vector<std::string>> special_tokens,
                   size_t bos_token_index, size_t eos_token_index)
    : Tiktoken(std::move(pattern),
               special_tokens != nullptr ? *special_tokens : default_special_tokens(),
               bos_token_index, eos_token_index) {}
Tiktoken::Tiktoken(std::string pattern, const std::vector<std::string>& special_tokens,
                   size_t bos_token_index, size_t eos_token_index)
    : pattern_(std::move(pattern)),
      special_tokens_(special_tokens),
      bos_token_index_(bos_token_index),
      eos_token_index_(eos_token_index) {}
Tiktoken::~Tiktoken() = default;

Error Tiktoken::load(const std::string& tokenizer_path) {
  TK_CHECK_OR_RETURN_ERROR(
      bos_token_index_ < special_tokens_.size() && eos_token_index_ < special_tokens_.size(),
      LoadFailure,
      "expected bos and eos indices below %zu, the number of special tokens, got %zu and %zu",
      special_tokens_.size(), bos_token_index_, eos_token_index_);
  std::string text;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::read_file(tokenizer_path, text));
  auto vocabulary = std::make_unique<RankedBytes>();
  TK_CHECK_OK_OR_RETURN_ERROR(add_lines(text, *vocabulary));
  TK_CHECK_OK_OR_RETURN_ERROR(vocabulary->compile(pattern_));
  const auto first = static_cast<uint32_t>(vocabulary->num_tokens());
  for (size_t i = 0; i < special_tokens_.size(); ++i) {
    TK_CHECK_OK_OR_RETURN_ERROR(
        vocabulary->add_special(special_tokens_[i], first + static_cast<uint32_t>(i)));
  }
  bos_tok_ = first + bos_token_index_;
  eos_tok_ = first + eos_token_index_;
  vocab_size_ = static_cast<int32_t>(first + special_tokens_.size());
  vocabulary_ = std::move(vocabulary);
  initialized_ = true;
  return Error::Ok;
}

}  // namespace tokenizers
