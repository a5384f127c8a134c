// SPDX-License-Identifier: BSD-3-Clause
// Matmuls with weights that keep the codes, scales and minima of a block format.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/blocks/formats.h>

namespace executorch::kernels::optimized {

// [n][k] in panels (formats.h), which are read where they lie: nothing is copied. Any bytes are
// numbers; whether there are as many as sizes say is for the caller to check.
struct BlockMatrix {
  int format = 0;  // place in kBlockFormats
  int64_t n = 0, k = 0;
  const uint8_t* panels = nullptr;

  const BlockFormat& facts() const { return kBlockFormats[format]; }
  int64_t num_panels() const { return (n + kPanelRows - 1) / kPanelRows; }
  const uint8_t* panel(int64_t i) const { return panels + i * panel_bytes(facts(), k); }
};

// Place in kBlockFormats of GGUF's number, or -1.
int find_block_format(int64_t number);

constexpr int64_t kMaxBlockMatmuls = 4;  // of a call

// One row of the matrix as floats.
void read_block_row(const BlockMatrix& matrix, int64_t row, float* out);

// out[i * out_stride + j] = x[i] . weight[j] + bias[j]
struct BlockMatmul {
  BlockMatrix weight;
  const float* bias = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;
};

// Scratch memory, aligned to 64, of a call below with k columns for `rows` rows.
int64_t block_matmul_bytes(int64_t k, int64_t rows, bool fine);

// Products of the rows of x (`rows` x k, row after row) with several matrices of the same k. Each
// 32 numbers of a row become 8-bit integers times a scale of theirs, the largest magnitude / 127,
// ties to even; `fine`: twice, the second time what the first left over, as if there were 15 bits.
// Sums of integers are exact; a number that is not finite makes what its row gives NaN.
void multiply_blocks(const BlockMatmul* products, int64_t count, const float* x, int64_t rows,
                     bool fine, uint8_t* scratch);

}  // namespace executorch::kernels::optimized
