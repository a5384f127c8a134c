// SPDX-License-Identifier: BSD-3-Clause
// All pieces of a vocabulary that a text begins with.
#pragma once

#include <executorch/extension/llm/tokenizers/text/string_table.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenizers::detail {

/// Made once from all pieces, then read by many threads.
class PrefixTrie {
 public:
  /// `bytes`: of all pieces together, an upper bound on the number of nodes.
  explicit PrefixTrie(size_t bytes = 0) {
    children_.reserve(bytes);
    first_.fill(kNone);
  }

  void add(std::string_view piece, uint32_t value) {
    uint32_t node = 0;
    for (const char c : piece) {
      const auto byte = static_cast<uint8_t>(c);
      uint32_t next = children_.find(node, byte).id;
      if (next == kNone) {
        next = static_cast<uint32_t>(values_.size());
        values_.push_back(kNone);
        children_.add(node, byte, {0, next});
        if (node == 0) {
          first_[byte] = next;
        }
      }
      node = next;
    }
    values_[node] = value;
  }

  /// Calls found(value, length) for each piece at the beginning of the text, the shortest first.
  template <typename Found>
  void each_prefix(std::string_view text, const Found& found) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      node = i == 0 ? first_[byte] : children_.find(node, byte).id;
      if (node == kNone) {
        break;
      }
      if (values_[node] != kNone) {
        found(values_[node], i + 1);
      }
    }
  }

 private:
  PairTable children_;
  std::array<uint32_t, 256> first_;  // of the root
  std::vector<uint32_t> values_ = std::vector<uint32_t>(1, kNone);
};

}  // namespace tokenizers::detail
