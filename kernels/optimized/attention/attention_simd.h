// SPDX-License-Identifier: BSD-3-Clause
// Loops of attention_blocks.cpp.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::kernels::optimized {

// The scores of a row seen so far: the highest, and the sum of exp(score - highest).
struct RunningSoftmax {
  float highest;
  float total;
};

// Makes n further scores into exp(score - highest so far), and returns what earlier weights are to
// be multiplied by. Scores of -inf weigh 0.
float softmax_step(float* scores, int64_t n, RunningSoftmax& row);

// Rows of keys or values that few queries read, of neighbouring heads; strides count elements.
struct CacheRows {
  const void* data = nullptr;
  executorch::aten::ScalarType type = executorch::aten::ScalarType::Float;  // or Half, BFloat16
  int64_t row_stride = 0, head_stride = 0;
  int64_t count = 0, depth = 0;
  int64_t heads = 1, queries = 0;  // queries of each head
  int64_t ahead = 0;               // rows behind the last that are read next
};

// scores[(h * queries + i) * stride + r] = queries[h][i] . rows[r][h].
void score_rows(const CacheRows& rows, const float* queries, float* scores, int64_t stride);

// sums[h][i] = weights[(h * queries + i) * stride + r] * rows[r][h] for all r in turn, added to
// what is there when `accumulate`. There is at least one row.
void add_rows(const CacheRows& rows, const float* weights, int64_t stride, float* sums,
              bool accumulate);

void scale_row(float* row, int64_t n, float factor);

// out[i] = (codes[i] - zero) * scale.
void dequantize_row(const int8_t* codes, int64_t n, float scale, int8_t zero, float* out);

}  // namespace executorch::kernels::optimized
