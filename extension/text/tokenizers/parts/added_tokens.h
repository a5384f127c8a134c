// SPDX-License-Identifier: BSD-3-Clause
// Tokens that are found in a text as they are, before the model sees the rest.
#pragma once

#include <executorch/extension/text/tokenizers/parts/normalizer.h>
#include <executorch/extension/text/tokenizers/text/literal_trie.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tokenizers::detail {

struct AddedToken {
  std::string content;
  uint64_t id = 0;
  bool is_special = false;
  /// Looked for in the normalized text instead of the text.
  bool is_normalized = false;
  /// Found only where no word goes on at either side.
  bool is_single_word = false;
  /// Take the white space at that side with them.
  bool strips_left = false, strips_right = false;
};

class AddedTokens {
 public:
  /// A part of a text: of a token, or with kNoToken to be encoded.
  struct Part {
    std::string_view text;
    uint64_t token;
  };
  static constexpr uint64_t kNoToken = UINT64_MAX;

  void add(AddedToken token, const Normalizer* normalizer);

  /// Cuts a text at its tokens: those of the text itself, or (normalized) of what the normalizer
  /// made of it.
  void split(std::string_view text, bool normalized, std::vector<Part>& out) const;

  const std::vector<AddedToken>& all() const { return tokens_; }
  /// Null when the id or content is none of an added token.
  const AddedToken* of_id(uint64_t id) const;
  const AddedToken* of_content(const std::string& content) const;

 private:
  std::vector<AddedToken> tokens_;
  std::unordered_map<uint64_t, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_content_;
  LiteralTrie in_text_, in_normalized_;
};

}  // namespace tokenizers::detail
