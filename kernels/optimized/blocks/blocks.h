// SPDX-License-Identifier: BSD-3-Clause
// Matmuls with weights that keep the codes, scales and minima of a block format.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/blocks/formats.h>
#include <executorch/kernels/optimized/gemm/matmul_result.h>

namespace executorch::kernels::optimized {

// [n][k] in panels (formats.h), which are read where they lie: nothing is copied. Any bytes are
// numbers; whether there are as many as sizes say is for the caller to check.
struct BlockMatrix {
  int format = 0;  // place in kBlockFormats
  int64_t n = 0, k = 0;
  const uint8_t* panels = nullptr;
  int64_t int4_units = 0;  // of a block, of kInt4Format alone: 1 to kMaxUnitsOfBlock

  const BlockFormat& facts() const { return kBlockFormats[format]; }
  int64_t units_per_block() const {
    return facts().by_rows ? int4_units : facts().units_per_block();
  }
  // Numbers of a row that k must be a multiple of, and their bytes in a panel.
  int64_t block_columns() const { return units_per_block() * kUnit; }
  int64_t block_bytes() const { return optimized::block_bytes(facts(), units_per_block()); }
  int64_t panel_bytes(int64_t columns) const { return columns / block_columns() * block_bytes(); }
  int64_t panel_bytes() const { return panel_bytes(k); }
  int64_t num_panels() const { return (n + kPanelRows - 1) / kPanelRows; }
  const uint8_t* panel(int64_t i) const { return panels + i * panel_bytes(); }
};

// Place in kBlockFormats of GGUF's number, or -1. Never kInt4Format.
int find_block_format(int64_t number);

constexpr int64_t kMaxBlockMatmuls = 4;  // of a call

// One row of the matrix as floats.
void read_block_row(const BlockMatrix& matrix, int64_t row, float* out);

using BlockResult = MatmulResult<float>;  // of one problem

// out[i * out_stride + j] = x[i] . weight[j] + bias[j], unless `result` has the products.
struct BlockMatmul {
  BlockMatrix weight;
  const float* bias = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;
  const BlockResult* result = nullptr;
};

// Scratch memory, aligned to 64, of a call below with k columns for `rows` rows.
int64_t block_matmul_bytes(int64_t k, int64_t rows, bool fine);

// Products of the rows of x (`rows` x k, row after row) with several matrices of the same k. Each
// 32 numbers of a row become 8-bit integers times a scale of theirs, the largest magnitude / 127,
// ties to even; `fine`: twice, the second time what the first left over, as if there were 15 bits.
// Sums of integers are exact; a number that is not finite makes what its row gives NaN.
void multiply_blocks(const BlockMatmul* products, int64_t count, const float* x, int64_t rows,
                     bool fine, uint8_t* scratch);

// Matrices of int4 with a scale for each block, for rows of int8 whose scale is the caller's.
// `values` has n rows of k numbers, 8 higher than they are, two a byte, the first in the lower
// bits; `scales` n rows of k / (kUnit * block_units) bfloat16, or null for 1. k is a multiple of
// the block. Writes the panels and, by row of the matrix, the sum of its numbers times their
// scales. Threaded.
struct Int4Matrix {
  int64_t n, k, block_units;
  const uint8_t* values;
  const uint16_t* scales;
};
// Whether there are vectors for it; without, it is slow.
bool suits_int4();
// A matrix for its sizes: blocks of more than kMaxUnitsOfBlock units become several with one scale.
BlockMatrix int4_matrix(int64_t n, int64_t k, int64_t block_units);
void pack_int4(const Int4Matrix& from, const BlockMatrix& to, uint8_t* panels, float* sums);

// Products of `rows` rows of int8 (x, row after row) with such a matrix. Scratch memory, aligned to
// 64, of int4_matmul_bytes().
int64_t int4_matmul_bytes(int64_t k, int64_t rows);
void multiply_int4(const BlockMatrix& weight, const int8_t* x, int64_t rows,
                   const BlockResult& result, uint8_t* scratch);

}  // namespace executorch::kernels::optimized
