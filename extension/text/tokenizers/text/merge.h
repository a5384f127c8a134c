// SPDX-License-Identifier: BSD-3-Clause
// Byte-pair merging: of all neighbours the pair of the lowest rank becomes one symbol, the leftmost
// first, until none can.
#pragma once

#include <executorch/extension/text/tokenizers/text/string_table.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace tokenizers::detail {

/// A part of a piece: bytes [start, start + size) and its id.
struct Symbol {
  uint32_t id, start, size;
};

/// Memory that calls reuse. One per thread and call.
struct MergeScratch {
  struct Link {
    uint32_t previous, next;
  };
  std::vector<Symbol> symbols;
  std::vector<uint32_t> ranks;
  std::vector<uint32_t> ids;
  std::vector<Link> links;
  std::vector<uint64_t> heap;
};

/// Pieces of at most so many symbols: a scan for the lowest rank costs less than a heap.
constexpr size_t kScanSymbols = 64;

/// merge_of(left symbol, right symbol) -> PairTable::Merge, rank kNone where the two do not merge.
template <typename MergeOf>
void merge_by_scan(MergeScratch& scratch, const MergeOf& merge_of) {
  auto& symbols = scratch.symbols;
  auto& ranks = scratch.ranks;
  auto& ids = scratch.ids;
  size_t count = symbols.size();
  ranks.resize(count);
  ids.resize(count);
  const auto look = [&](size_t i) {
    const PairTable::Merge merge = merge_of(symbols[i], symbols[i + 1]);
    ranks[i] = merge.rank;
    ids[i] = merge.id;
  };
  for (size_t i = 0; i + 1 < count; ++i) {
    look(i);
  }
  while (count > 1) {
    size_t lowest = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[lowest]) {
        lowest = i;
      }
    }
    if (ranks[lowest] == kNone) {
      break;
    }
    symbols[lowest].id = ids[lowest];
    symbols[lowest].size += symbols[lowest + 1].size;
    const auto close = [&](auto& row, size_t at) {
      std::copy(row.begin() + at + 1, row.begin() + count, row.begin() + at);
    };
    close(symbols, lowest + 1);
    close(ranks, lowest);
    close(ids, lowest);
    --count;
    if (lowest > 0) {
      look(lowest - 1);
    }
    if (lowest + 1 < count) {
      look(lowest);
    }
  }
  symbols.resize(count);
}

/// The same in n log n steps.
template <typename MergeOf>
void merge_by_heap(MergeScratch& scratch, const MergeOf& merge_of) {
  auto& symbols = scratch.symbols;
  auto& links = scratch.links;
  auto& heap = scratch.heap;
  const auto count = static_cast<uint32_t>(symbols.size());
  links.resize(count);
  scratch.ranks.assign(count, kNone);
  scratch.ids.resize(count);
  heap.clear();
  const std::greater<uint64_t> later;
  // Rank above position: the lowest number is the lowest rank, and of equal ones the leftmost. An
  // entry counts as long as ranks has its rank at that position.
  const auto look = [&](uint32_t i) {
    const PairTable::Merge merge = merge_of(symbols[i], symbols[links[i].next]);
    scratch.ranks[i] = merge.rank;
    scratch.ids[i] = merge.id;
    if (merge.rank != kNone) {
      heap.push_back(static_cast<uint64_t>(merge.rank) << 32 | i);
    }
  };
  for (uint32_t i = 0; i < count; ++i) {
    links[i] = {i - 1, i + 1};  // kNone before the first
  }
  for (uint32_t i = 0; i + 1 < count; ++i) {
    look(i);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  const auto look_again = [&](uint32_t i) {
    const size_t before = heap.size();
    look(i);
    if (heap.size() > before) {
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const auto at = static_cast<uint32_t>(heap.back());
    const auto rank = static_cast<uint32_t>(heap.back() >> 32);
    heap.pop_back();
    if (scratch.ranks[at] != rank) {
      continue;
    }
    const uint32_t next = links[at].next;
    symbols[at].id = scratch.ids[at];
    symbols[at].size += symbols[next].size;
    scratch.ranks[at] = scratch.ranks[next] = kNone;
    links[at].next = links[next].next;
    if (links[at].next != count) {
      links[links[at].next].previous = at;
      look_again(at);
    }
    if (links[at].previous != kNone) {
      look_again(links[at].previous);
    }
  }
  uint32_t kept = 0;
  for (uint32_t at = 0; at < count; at = links[at].next) {
    symbols[kept++] = symbols[at];
  }
  symbols.resize(kept);
}

/// Merges scratch.symbols in place.
template <typename MergeOf>
void merge_symbols(MergeScratch& scratch, const MergeOf& merge_of) {
  if (scratch.symbols.size() <= kScanSymbols) {
    merge_by_scan(scratch, merge_of);
  } else {
    merge_by_heap(scratch, merge_of);
  }
}

}  // namespace tokenizers::detail
