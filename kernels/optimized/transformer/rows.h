// SPDX-License-Identifier: BSD-3-Clause
// The loops of rows.cpp: one row of a layer's numbers at a time, in f32. `out` may be `x`.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// out = x / sqrt(mean(x^2) + eps) * weight, all of n numbers.
void norm_row(const float* x, const float* weight, int64_t n, float eps, float* out);

// Pairs of numbers turned by angles: out = (a cos - b sin, a sin + b cos). `half`: pairs of a row.
// Neighbors (2i, 2i + 1), with tables of `half` numbers; or (i, i + half), with tables of twice as
// many, of which each number of the row has its own.
struct Turn {
  int64_t half;
  const float* cos;
  const float* sin;
};
void turn_neighbors(const float* x, const Turn& turn, float* out);
void turn_halves(const float* x, const Turn& turn, float* out);

// out = x * sigmoid(x) * by
void gate_row(const float* x, const float* by, int64_t n, float* out);

}  // namespace executorch::kernels::optimized
