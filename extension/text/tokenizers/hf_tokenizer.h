// SPDX-License-Identifier: BSD-3-Clause
// Hugging Face's tokenizer.json.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

namespace detail {
class HFPipeline;
}

/// Added tokens, normalizer, pre-tokenizer, model, post-processor and decoder, each as the file
/// says. Ids are those of the Python package `tokenizers`.
class HFTokenizer : public Tokenizer {
 public:
  HFTokenizer();
  ~HFTokenizer() override;

  /// A file, or a folder with tokenizer.json and perhaps tokenizer_config.json and
  /// special_tokens_map.json, which then say which tokens begin and end a text. LoadFailure: not
  /// readable, or something required is missing or not known. ParseFailure: not JSON.
  Error load(const std::string& path) override;

  /// bos > 0 or eos > 0 apply the file's post-processor once, whatever the counts; a file without
  /// one adds nothing.
  Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos = 0,
                                       int8_t eos = 0) const override;

  Result<std::string> decode(uint64_t prev_token, uint64_t token,
                             bool skip_special_tokens = false) const override;

  /// The text of a whole sequence. Bytes that are not UTF-8 are left as they are.
  Result<std::string> decode(const std::vector<uint64_t>& tokens,
                             bool skip_special_tokens = false) const;

  Result<std::string> id_to_piece(uint64_t token) const override;
  Result<uint64_t> piece_to_id(const std::string& text) const override;

 private:
  std::unique_ptr<detail::HFPipeline> pipeline_;
};

}  // namespace tokenizers
