// SPDX-License-Identifier: BSD-3-Clause
// Llama2.c's tokenizer.bin: pieces with scores.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

namespace detail {
class ScoredPieces;
}

class Llama2cTokenizer : public Tokenizer {
 public:
  explicit Llama2cTokenizer();
  ~Llama2cTokenizer() override;

  /// Ok at once when a file is loaded already. LoadFailure: not readable. ParseFailure: a record is
  /// cut short, or a field has no meaning. Records that are missing altogether become "<pad>".
  Error load(const std::string& tokenizer_path) override;
  /// A space is put before the text. EncodeFailure: an empty text, or a negative count.
  Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos = 0,
                                       int8_t eos = 0) const override;
  /// OutOfRange for an id that is not there. Special tokens are printed, skip_special_tokens or
  /// not.
  Result<std::string> decode(uint64_t prev_token, uint64_t token,
                             bool skip_special_tokens = false) const override;
  Result<std::string> id_to_piece(uint64_t token) const override;
  Result<uint64_t> piece_to_id(const std::string& text) const override;

 private:
  std::unique_ptr<detail::ScoredPieces> pieces_;
};

}  // namespace tokenizers
