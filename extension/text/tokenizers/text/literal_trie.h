// SPDX-License-Identifier: BSD-3-Clause
// Finds the texts of a list in another text: from left to right, at each place the longest.
#pragma once

#include <pytorch/tokenizers/regex.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenizers::detail {

class LiteralTrie {
 public:
  struct Found {
    Match match;
    uint32_t value;
  };

  /// Empty texts are not added. A text that is added again gets the later value.
  void add(std::string_view text, uint32_t value);
  bool is_empty() const { return nodes_.size() == 1; }
  /// Whether a text begins with it.
  bool has_first(uint8_t first) const { return first_[first] != 0; }
  /// The first at or after `from`.
  std::optional<Found> find(std::string_view text, size_t from) const;
  /// The longest that begins at `at`.
  std::optional<Found> longest(std::string_view text, size_t at) const;

 private:
  static constexpr uint32_t kNoValue = UINT32_MAX;
  struct Node {
    std::vector<std::pair<char, uint32_t>> next;
    uint32_t value = kNoValue;
  };
  uint32_t child(uint32_t node, char c) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<uint32_t, 256> first_{};  // children of the root
};

}  // namespace tokenizers::detail
