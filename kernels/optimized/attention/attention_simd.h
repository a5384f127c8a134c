// SPDX-License-Identifier: BSD-3-Clause
// Loops of attention_blocks.cpp.
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

// out[i] = (codes[i] - zero) * scale.
void dequantize_row(const int8_t* codes, int64_t n, float scale, int8_t zero, float* out);

}  // namespace executorch::kernels::optimized
