// SPDX-License-Identifier: BSD-3-Clause
// A SentencePiece model: what its protobuf says, and the two ways of encoding with it.
#pragma once

#include <executorch/extension/text/tokenizers/text/charsmap.h>
#include <executorch/extension/text/tokenizers/text/literal_trie.h>
#include <executorch/extension/text/tokenizers/text/merge.h>
#include <executorch/extension/text/tokenizers/text/prefix_trie.h>
#include <executorch/extension/text/tokenizers/text/string_table.h>
#include <pytorch/tokenizers/error.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

class SentencePieceModel {
 public:
  enum class Type : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

  /// ParseFailure with the reason in the log.
  Error read(std::string_view bytes);

  std::vector<uint64_t> encode(std::string_view text) const;
  /// The package's text of a sequence; ids are all there.
  std::string decode(const std::vector<uint64_t>& ids) const;

  size_t size() const { return types_.size(); }
  Type type(uint64_t id) const { return types_[id]; }
  float score(uint64_t id) const { return scores_[id]; }
  std::string_view piece(uint64_t id) const { return pieces_.text(static_cast<uint32_t>(id)); }
  uint32_t find(std::string_view piece) const { return pieces_.find(piece); }
  /// Ids of control tokens by the names that the file gives them; kNone where there is none.
  uint32_t control(const std::string& name) const;
  const std::string& bos_piece() const { return bos_piece_; }
  const std::string& eos_piece() const { return eos_piece_; }

 private:
  enum class Algorithm { kUnigram = 1, kBpe = 2 };
  using Cut = std::vector<std::pair<std::string_view, uint32_t>>;
  struct Normalized {
    std::string_view text;
    size_t length;
  };

  Error read_piece(std::string_view message);
  Error read_trainer(std::string_view message);
  Error read_normalizer(std::string_view message);
  Error finish();
  void finish_texts();
  std::string normalize(std::string_view text) const;
  bool stays(std::string_view text) const;
  Normalized normalize_prefix(std::string_view text) const;
  Cut cut_bpe(std::string_view text) const;
  void merge(std::string_view text, MergeScratch& scratch, Cut& out) const;
  Cut cut_unigram(std::string_view text) const;

  StringTable pieces_;
  std::vector<float> scores_;
  /// Of unigram models: a user's own piece is better than any other, and the longer the better,
  /// whatever the file says of its score.
  std::vector<float> cut_scores_;
  std::vector<Type> types_;
  std::array<uint32_t, 256> byte_ids_;
  /// Whether a character below 0x80 is left as it is: never where a user's own piece begins with
  /// it; before another such character where rules begin with it that all go on with a mark.
  enum class Stays : uint8_t { kNotSure, kBeforeAscii, kAlways };
  std::array<Stays, 256> stays_{};
  /// No merge joins a word to the space before the next one: words can be merged one by one.
  bool has_words_ = false;
  /// By id, of words: whether merging the piece's own text gives the piece. Any thread writes it.
  enum : uint8_t { kNotTried, kIsOnePiece, kIsSplit };
  std::unique_ptr<std::atomic<uint8_t>[]> whole_;
  LiteralTrie user_defined_;
  PrefixTrie trie_;
  Charsmap charsmap_;
  std::string bos_piece_ = "<s>", eos_piece_ = "</s>", unknown_surface_ = " \u2047 ";
  Algorithm algorithm_ = Algorithm::kUnigram;
  bool is_known_algorithm_ = true, byte_fallback_ = false, space_is_suffix_ = false;
  bool adds_prefix_ = true, removes_spaces_ = true, escapes_spaces_ = true;
  uint32_t unknown_ = kNone;
  float lowest_ = 0;
};

}  // namespace tokenizers::detail
