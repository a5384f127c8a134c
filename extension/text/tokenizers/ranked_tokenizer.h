// SPDX-License-Identifier: BSD-3-Clause
// What Tiktoken and Tekken do once their file is read.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers::detail {

class RankedBytes;

/// Byte-pair encoding where a token's rank gives its id. load() sets the vocabulary.
class RankedTokenizer : public Tokenizer {
 public:
  ~RankedTokenizer() override;

  Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos = 0,
                                       int8_t eos = 0) const override;
  Result<std::string> decode(uint64_t prev_token, uint64_t token,
                             bool skip_special_tokens = false) const override;
  Result<std::string> id_to_piece(uint64_t token) const override;
  Result<uint64_t> piece_to_id(const std::string& text) const override;

 protected:
  RankedTokenizer();

  std::unique_ptr<RankedBytes> vocabulary_;
};

}  // namespace tokenizers::detail
