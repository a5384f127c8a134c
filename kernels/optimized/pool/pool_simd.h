// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of max pooling, chosen by the processor the program runs on.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// One row of outputs: the largest of `taps` lines at each position, and where in its plane it was.
// The first of equals counts; a NaN beats all numbers, and the last NaN counts. Lines and `first`
// are readable up to kPoolOverread values behind `count`.
constexpr int64_t kPoolOverread = 64;
struct MaxPoolRow {
  const float* lines;  // [rows * cols][line]
  int64_t line;
  int64_t rows, cols;          // taps: all inside the plane, but for columns padded with -infinity
  int64_t origin;              // index of tap (0, 0) at position 0
  int64_t row_step, col_step;  // of the index, between taps
  int64_t stride;              // of the index, between positions
  const int32_t* first;        // index of the first tap inside, less that of its row
  int64_t first_row;
  int64_t count;
  float* out;
  int64_t* indices;
};
void max_pool_row(const MaxPoolRow& row);

}  // namespace executorch::kernels::optimized
