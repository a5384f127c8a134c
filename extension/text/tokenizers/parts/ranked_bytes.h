// SPDX-License-Identifier: BSD-3-Clause
// Byte-pair encoding where a token's rank is its id, with special tokens beside: tiktoken's and
// Tekken's way.
#pragma once

#include <executorch/extension/text/tokenizers/text/literal_trie.h>
#include <executorch/extension/text/tokenizers/text/merge.h>
#include <executorch/extension/text/tokenizers/text/string_table.h>
#include <pytorch/tokenizers/regex.h>
#include <pytorch/tokenizers/result.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// Ids of tokens are `base` + rank; special tokens have any other id. Const after the last add:
/// threads share it.
class RankedBytes {
 public:
  explicit RankedBytes(uint32_t base = 0) : base_(base) {}

  Error compile(const std::string& pattern) { return pattern_.compile(pattern); }
  void reserve(size_t tokens, size_t bytes) { ranks_.reserve(tokens, bytes); }
  /// ParseFailure when the token or its rank is there already.
  Error add(std::string_view token, uint32_t rank);
  /// ParseFailure when the text or its id is there already. `is_found`: texts are searched for it.
  Error add_special(const std::string& text, uint32_t id, bool is_found = true);

  Result<std::vector<uint64_t>> encode(std::string_view text) const;

  std::optional<std::string> bytes(uint64_t id) const;
  bool is_special(uint64_t id) const { return special_.has(id); }
  std::optional<uint64_t> id(std::string_view piece) const;
  /// The id of a special token.
  std::optional<uint64_t> special(std::string_view text) const;
  size_t num_tokens() const { return ranks_.size(); }
  /// One more than the greatest rank.
  size_t end_of_ranks() const { return ranks_.end(); }

 private:
  Error encode_text(std::string_view text, std::vector<uint64_t>& out, MergeScratch& scratch,
                    std::vector<Match>& matches) const;
  bool encode_piece(std::string_view piece, std::vector<uint64_t>& out,
                    MergeScratch& scratch) const;

  uint32_t base_;
  Pcre2Regex pattern_;
  StringTable ranks_, special_;
  LiteralTrie in_text_;
};

/// `copies` of `id` at the front or the end.
void surround(std::vector<uint64_t>& ids, uint64_t bos, int8_t num_bos, uint64_t eos,
              int8_t num_eos);

}  // namespace tokenizers::detail
