// SPDX-License-Identifier: BSD-3-Clause
// Lays the nodes of a trie into a double array, in the order of the sorted pieces.
#include <executorch/extension/text/tokenizers/text/prefix_trie.h>

#include <algorithm>

namespace tokenizers::detail {

namespace {

constexpr size_t kBytes = 256;
// Free places that are tried before children go behind all others.
constexpr int kTries = 8;

/// The first eight bytes as a number that sorts as they do.
uint64_t head_of(std::string_view piece) {
  uint64_t head = 0;
  for (size_t i = 0; i < 8; ++i) {
    head = head << 8 | (i < piece.size() ? static_cast<uint8_t>(piece[i]) : 0);
  }
  return head;
}

}  // namespace

class PrefixTrie::Builder {
 public:
  Builder(const std::vector<Entry>& entries, PrefixTrie& trie)
      : entries_(entries), units_(trie.units_), trie_(trie) {
    trie_.tail_starts_.push_back(0);
    units_.resize(1 + kBytes);
    next_free_.resize(units_.size());
    for (size_t at = 0; at < next_free_.size(); ++at) {
      next_free_[at] = static_cast<uint32_t>(at);
    }
    take(0, 0);
  }

  void run() {
    std::vector<Range> open{{0, entries_.size(), 0, 0}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      add_children(range, open);
    }
  }

 private:
  /// Sorted entries whose first `depth` bytes lead to `node`.
  struct Range {
    size_t begin, end, depth;
    uint32_t node;
  };

  void add_children(const Range& range, std::vector<Range>& open) {
    size_t at = range.begin;
    for (; at < range.end && entries_[at].piece.size() == range.depth; ++at) {
      units_[range.node].value = entries_[at].value;
    }
    if (at == range.begin && at + 1 == range.end) {
      add_tail(range.node, entries_[at], range.depth);
      return;
    }
    children_.clear();
    for (size_t i = at; i < range.end; ++i) {
      const auto byte = static_cast<uint8_t>(entries_[i].piece[range.depth]);
      if (children_.empty() || children_.back().byte != byte) {
        children_.push_back({byte, i});
      }
    }
    if (children_.empty()) {
      return;
    }
    const uint32_t base = find_base();
    units_[range.node].base = base;
    for (size_t i = 0; i < children_.size(); ++i) {
      const size_t end = i + 1 < children_.size() ? children_[i + 1].begin : range.end;
      const uint32_t node = base + children_[i].byte;
      take(node, range.node);
      open.push_back({children_[i].begin, end, range.depth + 1, node});
    }
  }

  void add_tail(uint32_t node, const Entry& entry, size_t depth) {
    units_[node].base = kTails + static_cast<uint32_t>(trie_.tail_starts_.size() - 1);
    units_[node].value = entry.value;
    trie_.tails_ += entry.piece.substr(depth);
    trie_.tail_starts_.push_back(static_cast<uint32_t>(trie_.tails_.size()));
  }

  /// Where all children find their places free.
  uint32_t find_base() {
    const uint32_t first = children_.front().byte;
    uint32_t place = free_from(first + 1);  // the root has place 0
    for (int tries = 0; tries < kTries; ++tries) {
      const uint32_t base = place - first;
      make_room(base);
      const bool fits = std::all_of(children_.begin(), children_.end(), [&](const Child& child) {
        return units_[base + child.byte].parent == kNone;
      });
      if (fits) {
        return base;
      }
      place = free_from(place + 1);
    }
    make_room(end_ - first);
    return end_ - first;
  }

  void make_room(uint32_t base) {
    if (base + kBytes < units_.size()) {
      return;
    }
    const size_t size = std::max<size_t>(base + kBytes + 1, units_.size() + units_.size() / 2);
    next_free_.reserve(size);
    for (size_t at = units_.size(); at < size; ++at) {
      next_free_.push_back(static_cast<uint32_t>(at));
    }
    units_.resize(size);
  }

  /// The first free place from here on; places on the way learn it.
  uint32_t free_from(uint32_t place) {
    uint32_t found = place;
    while (found < next_free_.size() && next_free_[found] != found) {
      found = next_free_[found];
    }
    while (place < found) {
      const uint32_t next = next_free_[place];
      next_free_[place] = found;
      place = next;
    }
    return found;
  }

  void take(uint32_t place, uint32_t parent) {
    units_[place].parent = parent;
    next_free_[place] = place + 1;
    end_ = std::max(end_, place + 1);
  }

  struct Child {
    uint8_t byte;
    size_t begin;
  };

  const std::vector<Entry>& entries_;
  std::vector<Unit>& units_;
  PrefixTrie& trie_;
  std::vector<uint32_t> next_free_;
  std::vector<Child> children_;
  uint32_t end_ = 0;  // behind all places that are taken
};

PrefixTrie::PrefixTrie(std::vector<Entry> entries) {
  struct Key {
    uint64_t head;
    uint32_t index;
  };
  std::vector<Key> keys;
  keys.reserve(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    keys.push_back({head_of(entries[i].piece), i});
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.head != b.head) {
      return a.head < b.head;
    }
    const int order = entries[a.index].piece.compare(entries[b.index].piece);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  std::vector<Entry> sorted;
  sorted.reserve(entries.size());
  for (const Key& key : keys) {
    sorted.push_back(entries[key.index]);
  }
  Builder(sorted, *this).run();
  units_.shrink_to_fit();
}

}  // namespace tokenizers::detail
