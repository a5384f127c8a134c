// SPDX-License-Identifier: BSD-3-Clause
// All pieces of a vocabulary that a text begins with.
#pragma once

#include <executorch/extension/llm/tokenizers/text/string_table.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// Made once from all pieces, then read by many threads. A double array: the child of a node by a
/// byte is the unit at the node's base plus the byte, if that unit's parent is the node.
class PrefixTrie {
 public:
  struct Entry {
    std::string_view piece;  // not empty
    uint32_t value;
  };

  PrefixTrie() : PrefixTrie(std::vector<Entry>()) {}
  /// Of equal pieces the last counts. The texts are not kept.
  explicit PrefixTrie(std::vector<Entry> entries);

  /// Calls found(value, length) for each piece at the beginning of the text, the shortest first.
  template <typename Found>
  void each_prefix(std::string_view text, const Found& found) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const uint32_t next = units_[node].base + static_cast<uint8_t>(text[i]);
      if (units_[next].parent != node) {
        break;
      }
      node = next;
      if (units_[node].value != kNone) {
        found(units_[node].value, i + 1);
      }
    }
  }

 private:
  struct Unit {
    uint32_t base = 0, parent = kNone, value = kNone;
  };
  class Builder;

  /// 256 more than nodes need, so that base plus byte is always inside. The root is the first.
  std::vector<Unit> units_;
};

}  // namespace tokenizers::detail
