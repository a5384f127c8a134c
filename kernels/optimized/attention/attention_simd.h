// SPDX-License-Identifier: BSD-3-Clause
// The running softmax of attention.cpp.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// The scores of a row seen so far: the highest, and the sum of exp(score - highest).
struct RunningSoftmax {
  float highest;
  float total;
};

// Makes n further scores into exp(score - highest so far), and returns what earlier weights are to
// be multiplied by. Scores of -inf weigh 0.
float softmax_step(float* scores, int64_t n, RunningSoftmax& row);

}  // namespace executorch::kernels::optimized
