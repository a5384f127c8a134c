// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// What becomes of the sums of products of one matmul, or of several that are problems of one call.
template <typename Sum>
class MatmulResult {
 public:
  // Rows [row, row + rows) and columns [col, col + cols); value (i, j) is at sums[i * stride + j].
  struct Tile {
    int64_t row, rows, col, cols;
    const Sum* sums;
    int64_t stride;
  };

  virtual ~MatmulResult() = default;
  // Called once for each part of the result, from several threads.
  virtual void finish(int64_t problem, const Tile& tile) const = 0;
};

}  // namespace executorch::kernels::optimized
