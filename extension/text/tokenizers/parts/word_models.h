// SPDX-License-Identifier: BSD-3-Clause
// tokenizer.json's models without merges: Unigram, WordPiece, WordLevel.
#pragma once

#include <executorch/extension/text/tokenizers/parts/model.h>
#include <executorch/extension/text/tokenizers/text/prefix_trie.h>

#include <array>
#include <string>
#include <vector>

namespace tokenizers::detail {

/// The cut of the greatest probability.
class UnigramModel : public Model {
 public:
  explicit UnigramModel(const TokenizerJson& file);
  void encode(std::string_view piece, std::vector<uint64_t>& out,
              MergeScratch& scratch) const override;

 private:
  void encode_unknown(std::string_view text, std::vector<uint64_t>& out) const;

  std::vector<double> scores_;
  PrefixTrie trie_;
  std::array<uint32_t, 256> byte_ids_;
  bool byte_fallback_;
  uint32_t unknown_ = kNone;
  double unknown_score_ = 0;
};

/// The longest beginning that is a word, then the longest continuations.
class WordPieceModel : public Model {
 public:
  explicit WordPieceModel(const TokenizerJson& file);
  void encode(std::string_view piece, std::vector<uint64_t>& out,
              MergeScratch& scratch) const override;

 private:
  std::string prefix_;
  size_t longest_;
  uint32_t unknown_;
};

/// Whole pieces only.
class WordLevelModel : public Model {
 public:
  explicit WordLevelModel(const TokenizerJson& file);
  void encode(std::string_view piece, std::vector<uint64_t>& out,
              MergeScratch& scratch) const override;

 private:
  uint32_t unknown_;
};

}  // namespace tokenizers::detail
