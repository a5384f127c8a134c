// SPDX-License-Identifier: BSD-3-Clause
// Which columns of B are a panel, where it lies in what pack_matrix() writes, and which rows of A a
// tile takes.
#pragma once

#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>

#include <algorithm>
#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kPackedBlockK = 1024;  // rows of a block of a B that is packed once, at most

// Columns of a panel: as many vectors as a tile has, but for the last two where one vector would be
// left over, which takes as long as two: these have two each.
class Panels {
 public:
  Panels(int64_t n, int64_t lanes) : n_(n), lanes_(lanes) {
    const int64_t vectors = div_up(n, lanes);
    const bool has_pair = vectors > kTileVectors && vectors % kTileVectors == 1;
    pair_begin_ = has_pair ? (vectors - kTileVectors - 1) * lanes : n;
  }

  int64_t width() const { return kTileVectors * lanes_; }
  int64_t begin_of(int64_t column) const {
    return column < pair_begin_ ? column / width() * width()
                                : pair_begin_ + (column - pair_begin_) / half() * half();
  }
  int64_t end_of(int64_t column) const {
    return std::min(begin_of(column) + (column < pair_begin_ ? width() : half()), n_);
  }
  int64_t index_of(int64_t column) const {
    return column < pair_begin_ ? column / width()
                                : pair_begin_ / width() + (column - pair_begin_) / half();
  }
  int64_t begin_at(int64_t index) const {
    const int64_t whole = div_up(pair_begin_, width());
    return index < whole ? index * width() : pair_begin_ + (index - whole) * half();
  }
  int64_t count() const { return div_up(n_, width()); }

 private:
  int64_t half() const { return (kTileVectors + 1) / 2 * lanes_; }

  int64_t n_, lanes_, pair_begin_;
};

// Where (k, n), of a block of `k_size` rows from k on, stands in what pack_matrix() wrote: blocks
// one after the other, each with all of its panels.
inline int64_t place_of(const Panels& panels, int64_t k, int64_t k_size, int64_t n) {
  return panels.width() * (k * panels.count() + panels.index_of(n) * k_size) + n -
         panels.begin_of(n);
}

// Calls act(row, rows, count) for `m` rows as tiles that differ by a row at most, the larger first:
// from `row` on `count` tiles of `rows` rows. One of few rows waits for its sums.
template <typename Act>
void for_each_tile(const GemmKernels& kernels, int64_t m, Act act) {
  const int64_t tiles = div_up(m, kernels.tile_rows);
  const int64_t smaller = m / std::max<int64_t>(tiles, 1);
  const int64_t larger = m - tiles * smaller;
  if (larger > 0) {
    act(0, smaller + 1, larger);
  }
  if (tiles > larger) {
    act(larger * (smaller + 1), smaller, tiles - larger);
  }
}

}  // namespace executorch::kernels::optimized
