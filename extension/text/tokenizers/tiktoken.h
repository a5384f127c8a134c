// SPDX-License-Identifier: BSD-3-Clause
// OpenAI's tiktoken files, which Llama 3 uses too: one token per line, in base64, with its rank.
#pragma once

#include <pytorch/tokenizers/ranked_tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

constexpr int32_t kSpecialTokensSize = 256;
constexpr size_t kBOSTokenIndex = 0;
constexpr size_t kEOSTokenIndex = 1;

/// Special tokens and the pattern that splits texts are not in the file: they are arguments, by
/// default Llama 3's. Special ids follow the ranks, in the order of the list; bos and eos are
/// members of it, by index.
class Tiktoken : public detail::RankedTokenizer {
 public:
  explicit Tiktoken();
  explicit Tiktoken(std::unique_ptr<std::vector<std::string>> special_tokens,
                    size_t bos_token_index, size_t eos_token_index);
  explicit Tiktoken(const std::vector<std::string>& special_tokens, size_t bos_token_index,
                    size_t eos_token_index);
  explicit Tiktoken(std::string pattern, std::unique_ptr<std::vector<std::string>> special_tokens,
                    size_t bos_token_index, size_t eos_token_index);
  explicit Tiktoken(std::string pattern, const std::vector<std::string>& special_tokens,
                    size_t bos_token_index, size_t eos_token_index);
  ~Tiktoken() override;

  /// LoadFailure: not readable, a rank or token twice, no such bos or eos index. ParseFailure,
  /// Base64DecodeFailure, EncodeFailure: a line without a space, with bad base64, with a bad rank.
  /// RegexFailure: the pattern.
  Error load(const std::string& tokenizer_path) override;

 private:
  std::string pattern_;
  std::vector<std::string> special_tokens_;
  size_t bos_token_index_, eos_token_index_;
};

}  // namespace tokenizers
