// SPDX-License-Identifier: BSD-3-Clause
// What a tokenizer.json says, ready to run.
#pragma once

#include <executorch/extension/text/tokenizers/parts/added_tokens.h>
#include <executorch/extension/text/tokenizers/parts/decoder.h>
#include <executorch/extension/text/tokenizers/parts/model.h>
#include <executorch/extension/text/tokenizers/parts/normalizer.h>
#include <executorch/extension/text/tokenizers/parts/post_processor.h>
#include <executorch/extension/text/tokenizers/parts/pre_tokenizer.h>

#include <optional>
#include <string>
#include <vector>

namespace tokenizers::detail {

class HFPipeline {
 public:
  /// Throws BadPart.
  explicit HFPipeline(const TokenizerJson& file);

  /// Throws MatchFailure.
  std::vector<uint64_t> encode(std::string_view text, bool adds_special) const;

  /// Nothing when an id has no piece.
  /// `is_part` of a sequence: bytes may be half of a character.
  std::optional<std::string> decode(const std::vector<uint64_t>& ids, bool skips_special,
                                    bool is_part = false) const;
  /// What `id` adds after `previous`.
  std::optional<std::string> decode_next(uint64_t previous, uint64_t id, bool skips_special) const;

  std::optional<std::string> piece(uint64_t id) const;
  std::optional<uint64_t> id(const std::string& piece) const;
  const AddedTokens& added() const { return added_; }
  size_t size() const { return size_; }

 private:
  struct Scratch;
  void take_added_tokens(const std::vector<AddedToken>& list);
  void encode_part(std::string_view text, bool is_beginning, std::vector<uint64_t>& out,
                   Scratch& scratch) const;
  void encode_normalized(std::string_view text, bool is_beginning, std::vector<uint64_t>& out,
                         Scratch& scratch) const;

  Normalizer::Ptr normalizer_;
  PreTokenizer::Ptr pre_tokenizer_;
  Model::Ptr model_;
  PostProcessor post_processor_;
  Decoder::Ptr decoder_;
  AddedTokens added_;
  size_t size_ = 0;
};

}  // namespace tokenizers::detail
