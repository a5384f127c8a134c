// SPDX-License-Identifier: BSD-3-Clause
// SentencePiece's .model files: BPE and unigram.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

namespace detail {
class SentencePieceModel;
}

/// Normalizing, dummy prefix, user-defined symbols and byte fallback as the file says. Ids are
/// those of the package `sentencepiece`; control tokens in a text are text.
class SPTokenizer : public Tokenizer {
 public:
  explicit SPTokenizer();
  ~SPTokenizer() override;

  /// Ok at once when a file is loaded already. LoadFailure: not readable. ParseFailure: not a
  /// SentencePiece model, or one of another kind than BPE and unigram.
  Error load(const std::string& tokenizer_path) override;
  Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos = 0,
                                       int8_t eos = 0) const override;

  /// U+2581 becomes a space, <0xHH> its byte, a control token " " (or "" with skip_special_tokens);
  /// after bos_tok() one leading space is left out. DecodeFailure for an id that is not there.
  Result<std::string> decode(uint64_t prev_token, uint64_t token,
                             bool skip_special_tokens = false) const override;
  /// The text of a whole sequence, as the package `sentencepiece` gives it.
  Result<std::string> decode(const std::vector<uint64_t>& tokens) const;
  Result<std::string> id_to_piece(uint64_t token) const override;
  Result<uint64_t> piece_to_id(const std::string& text) const override;
  /// What training gave the piece: the logarithm of a probability, or a place in the order of
  /// merges. DecodeFailure for an id that is not there.
  Result<float> score(uint64_t token) const;

 private:
  std::unique_ptr<detail::SentencePieceModel> model_;
};

}  // namespace tokenizers
