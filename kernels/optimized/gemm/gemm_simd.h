// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of gemm.cpp, one set per instruction set; chosen once, by the processor the
// program runs on.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int kMaxTileRows = 8;
constexpr int kTileVectors = 3;
constexpr int kMaxTileWidth = 64;

// Tiles of C, one below the other: each some rows (the function's) by up to 3 vectors of columns.
struct GemmTile {
  int64_t count = 1;
  int64_t k;
  const float* a;
  // A row of A is this many pieces of k values, at these places behind `a`; null for one at `a`.
  int64_t pieces = 1;
  const int64_t* offsets = nullptr;
  int64_t lda;
  const float* b;  // pieces * k rows, ldb apart, each readable up to the full vectors
  int64_t ldb;
  float* c;
  int64_t ldc;
  const float* row_bias;  // nullptr or one value a row
  const float* col_bias;  // nullptr or one value a column
  int64_t tail;           // valid columns of the last vector
  bool accumulate;
  bool is_bounded;  // kept within [min, max]
  float min, max;
};

struct GemmKernels {
  int64_t tile_rows;  // rows of the largest tile
  int64_t lanes;      // values in a vector
  // [rows - 1][vectors - 1]
  void (*tile[kMaxTileRows][kTileVectors])(const GemmTile& tile);
  // out[c * out_stride + r] = in[r * in_stride + c] (added to what is there when add) for a rows x
  // cols block.
  void (*transpose)(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
                    int64_t out_stride, bool add);
  // Dot products of rows [first, last) with num_x vectors.
  void (*dot_rows)(const struct DotRows& problem, int64_t first, int64_t last);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const GemmKernels& gemm_kernels();

}  // namespace executorch::kernels::optimized
