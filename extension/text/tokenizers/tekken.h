// SPDX-License-Identifier: BSD-3-Clause
// Mistral's tekken.json.
#pragma once

#include <pytorch/tokenizers/ranked_tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

/// Ids below the number of special tokens are theirs, then come the ranks. Special tokens that
/// stand in a text become their ids.
class Tekken : public detail::RankedTokenizer {
 public:
  struct TekkenConfig {
    std::string pattern;
    size_t num_vocab_tokens = 0;
    size_t default_vocab_size = 0;
    size_t default_num_special_tokens = 0;
    std::string version;
  };
  struct TokenInfo {
    uint64_t rank = 0;
    std::string token_bytes;
    std::string token_str;
  };
  struct SpecialTokenInfo {
    uint64_t rank = 0;
    std::string token_str;
    bool is_control = false;
  };

  explicit Tekken();
  ~Tekken() override;

  /// LoadFailure: not readable, no <s> or </s>. ParseFailure: not JSON, or not of this form.
  /// Others: base64, the pattern.
  Error load(const std::string& tokenizer_path) override;
  /// The same with special tokens for a file that lists none.
  Error load_with_special_tokens(const std::string& tokenizer_path,
                                 const std::vector<SpecialTokenInfo>& special_tokens);

  /// The file's "version"; "" before load().
  const std::string& get_version() const { return version_; }

 private:
  std::string version_;
};

}  // namespace tokenizers
