// SPDX-License-Identifier: BSD-3-Clause
// How a matmul is cut into tasks: enough for every thread, none of them too small.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

constexpr int64_t kMinWorkPerTask = 1 << 17;  // steps of a vector lane worth waking a thread for

inline int64_t div_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Parts of rows times parts of columns, each a whole number of tiles.
struct Split {
  int64_t rows_per_part, row_parts, cols_per_part, col_parts;

  int64_t parts() const { return row_parts * col_parts; }
};

struct Rectangle {
  int64_t m_begin, m_end, n_begin, n_end;
};

// Parts of one of `batch` matmuls of `work` steps each.
inline int64_t parts_per_matmul(int64_t work, int64_t batch) {
  constexpr int64_t kWorkForSpareParts = 1 << 22;
  constexpr int64_t kSpareParts = 2;  // so that a held-up thread is not waited for long
  const int64_t threads = extension::get_num_threads();
  if (threads == 1 || batch >= 2 * threads) {
    return 1;
  }
  const int64_t spare = work / (threads * kSpareParts) >= kWorkForSpareParts ? kSpareParts : 1;
  return std::clamp<int64_t>(work / kMinWorkPerTask, 1, threads * spare);
}

inline Split split_matmul(int64_t m, int64_t n, int64_t tile_rows, int64_t tile_cols,
                          int64_t parts) {
  const int64_t row_tiles = div_up(m, tile_rows);
  const int64_t col_tiles = div_up(n, tile_cols);
  int64_t row_parts = 1, col_parts = 1;
  if (row_tiles >= col_tiles) {
    row_parts = std::min(parts, row_tiles);
    col_parts = std::min(parts / row_parts, col_tiles);
  } else {
    col_parts = std::min(parts, col_tiles);
    row_parts = std::min(parts / col_parts, row_tiles);
  }
  const int64_t rows = div_up(row_tiles, row_parts) * tile_rows;
  const int64_t cols = div_up(col_tiles, col_parts) * tile_cols;
  return {rows, div_up(m, rows), cols, div_up(n, cols)};
}

inline Rectangle part_of(const Split& split, int64_t part, int64_t m, int64_t n) {
  const int64_t i = part / split.col_parts * split.rows_per_part;
  const int64_t j = part % split.col_parts * split.cols_per_part;
  return {i, std::min(i + split.rows_per_part, m), j, std::min(j + split.cols_per_part, n)};
}

}  // namespace executorch::kernels::optimized
