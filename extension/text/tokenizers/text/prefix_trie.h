// SPDX-License-Identifier: BSD-3-Clause
// All pieces of a vocabulary that a text begins with.
#pragma once

#include <executorch/extension/text/tokenizers/text/string_table.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// Made once from all pieces, then read by many threads. A double array: the child of a node by a
/// byte is the unit at the node's base plus the byte, if that unit's parent is the node. Where one
/// piece alone goes on, its other bytes are a tail instead of nodes.
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
    for (size_t i = 0;; ++i) {
      const uint32_t base = units_[node].base;
      if (base >= kTails) {
        const std::string_view tail = tail_of(base);
        if (text.substr(i, tail.size()) == tail) {
          found(units_[node].value, i + tail.size());
        }
        return;
      }
      if (i == text.size()) {
        return;
      }
      const uint32_t next = base + static_cast<uint8_t>(text[i]);
      if (units_[next].parent != node) {
        return;
      }
      node = next;
      if (units_[node].value != kNone && units_[node].base < kTails) {
        found(units_[node].value, i + 1);
      }
    }
  }

 private:
  struct alignas(16) Unit {  // in one line of the cache
    uint32_t base = 0;       // from kTails on: where its tail is
    uint32_t parent = kNone, value = kNone;
  };
  class Builder;

  static constexpr uint32_t kTails = 0x80000000;
  std::string_view tail_of(uint32_t base) const {
    const uint32_t at = base - kTails;
    return {tails_.data() + tail_starts_[at], tail_starts_[at + 1] - tail_starts_[at]};
  }

  /// 256 more than nodes need, so that base plus byte is always inside. The root is the first.
  std::vector<Unit> units_;
  std::string tails_;
  std::vector<uint32_t> tail_starts_;  // and the end of the last
};

}  // namespace tokenizers::detail
