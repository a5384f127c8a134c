// SPDX-License-Identifier: BSD-3-Clause
// How a matmul is cut into tasks: enough for every thread, none of them too small.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/kernels/optimized/ranges.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

constexpr int64_t kMinWorkPerTask = 1 << 17;  // steps of a vector lane worth waking a thread for

// Tiles of a dimension, divided so that parts differ by one at most.
struct Parts {
  int64_t size, tile, tiles, parts;

  int64_t begin_of(int64_t part) const { return std::min(tiles * part / parts * tile, size); }
};

struct Split {
  Parts rows, cols;

  int64_t parts() const { return rows.parts * cols.parts; }
};

struct Rectangle {
  int64_t m_begin, m_end, n_begin, n_end;
};

// Parts of one of `batch` matmuls of `work` steps each: more than threads where they are large, so
// that one that is held up, or slower, is not waited for long. Every part packs what it reads of B,
// unless that is packed.
inline int64_t parts_per_matmul(int64_t work, int64_t batch, bool is_packed = false) {
  const int64_t work_for_spare_parts = is_packed ? 1 << 19 : 1 << 22;
  const int64_t most_for_each = is_packed ? 4 : 2;
  const int64_t threads = extension::get_num_threads();
  if (threads == 1 || batch >= 2 * threads) {
    return 1;
  }
  const int64_t for_each =
      std::clamp<int64_t>(work / (threads * work_for_spare_parts), 1, most_for_each);
  return std::clamp<int64_t>(work / kMinWorkPerTask, 1, threads * for_each);
}

inline Split split_matmul(int64_t m, int64_t n, int64_t tile_rows, int64_t tile_cols,
                          int64_t parts) {
  const int64_t row_tiles = div_up(m, tile_rows);
  const int64_t col_tiles = div_up(n, tile_cols);
  int64_t row_parts = 1, col_parts = 1;
  if (m >= n) {
    row_parts = std::min(parts, row_tiles);
    col_parts = std::min(parts / row_parts, col_tiles);
  } else {
    col_parts = std::min(parts, col_tiles);
    row_parts = std::min(parts / col_parts, row_tiles);
  }
  return {{m, tile_rows, row_tiles, row_parts}, {n, tile_cols, col_tiles, col_parts}};
}

inline Rectangle part_of(const Split& split, int64_t part) {
  const int64_t i = part / split.cols.parts;
  const int64_t j = part % split.cols.parts;
  return {split.rows.begin_of(i), split.rows.begin_of(i + 1), split.cols.begin_of(j),
          split.cols.begin_of(j + 1)};
}

}  // namespace executorch::kernels::optimized
