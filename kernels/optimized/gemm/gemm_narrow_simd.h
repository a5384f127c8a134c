// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of gemm_narrow.cpp, one set per instruction set. Both types are multiplied in
// words of 32 bits along k: 2 bfloat16 or 4 int8, whose products are added to one 32-bit sum.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/gemm/gemm_simd.h>

namespace executorch::kernels::optimized {

// One tile of sums: some rows (the function's) by up to 3 vectors of columns.
struct NarrowTile {
  int64_t words;  // whole words along k
  int64_t rest;   // values of A after them, less than a word; B then has one word more
  const uint8_t* a;
  int64_t a_stride;   // bytes between rows
  const uint32_t* b;  // panel: `width` words, then those of the next k
  int64_t width;
  void* c;  // f32 or int32
  int64_t ldc;
  int64_t tail;           // valid columns of the last vector
  bool accumulate;        // start from what C holds
  const void* col_start;  // else from one sum a column; nullptr: from 0
  const void* row_start;  // added to the start: one sum a row, or nullptr
};

// Where a panel of B comes from: `values` along k by `cols`, both within the matrix.
struct NarrowPanel {
  const uint8_t* b;
  int64_t stride;  // bytes between rows (or columns)
  int64_t values;
  int64_t cols;
  int64_t width;  // words between rows of the panel
};

struct NarrowTypeKernels {
  // [rows - 1][vectors - 1]; nullptr when the processor cannot
  void (*tile[kMaxTileRows][kTileVectors])(const NarrowTile& tile);
  // Write div_up(values, values of a word) rows; what lies past `cols` is left undefined. int8
  // values are written with 128 added, as unsigned.
  void (*pack_rows)(const NarrowPanel& panel, uint32_t* out);
  void (*pack_columns)(const NarrowPanel& panel, uint32_t* out);
};

struct NarrowKernels {
  int64_t tile_rows;
  int64_t lanes;  // words in a vector
  NarrowTypeKernels bfloat16;
  NarrowTypeKernels int8;
  // out[i] = -128 * the sum of row i of A: what the 128 added to B has to be paid back with.
  void (*offsets)(const int8_t* a, int64_t a_stride, int64_t rows, int64_t k, int32_t* out);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const NarrowKernels& narrow_kernels();

}  // namespace executorch::kernels::optimized
