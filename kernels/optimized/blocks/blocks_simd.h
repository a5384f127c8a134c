// SPDX-License-Identifier: BSD-3-Clause
// The loops of blocks.cpp, one set per instruction set.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/blocks/blocks.h>

namespace executorch::kernels::optimized {

// Rows of activations as integers; per unit of 32 a scale. What a format adds per group of its own
// (16 or 32 numbers) stands in sums and starts. For a format by rows: no scales, no sums, and
// starts of blocks, each at the block's first unit.
struct BlockRows {
  int64_t rows, k;
  const int8_t* codes;    // rows x k
  const float* scales;    // rows x k / 32
  const float* sums;      // rows x groups: scale * sum of codes
  const int32_t* starts;  // rows x groups: sum of codes * -offset of the format
};

// A panel's columns as bytes and floats, for many rows: what `unpack` writes and `many_rows` reads.
struct UnpackedPanel {
  uint8_t* codes;  // columns x 16, quad by quad; for tiles less their offset, with a sign
  float* scales;   // groups x 16
  float* minima;   // the same, added
};

constexpr int64_t kMaxPanelsAtOnce = 2;

// All rows with `count` unpacked panels of `units` units from `first_unit` on.
struct ManyRows {
  const BlockMatrix& matrix;
  const UnpackedPanel* panels;
  int64_t count, first_unit, units;
  const BlockRows& x;
  float* out;  // rows x 16 * count
  int64_t out_stride;
  bool add;  // to what `out` holds
  // What is unpacked next, which is fetched meanwhile: of `next_bytes` each.
  const uint8_t* next[kMaxPanelsAtOnce];
  int64_t next_bytes;
};

struct BlockKernels {
  int64_t panels;  // that many_rows takes at once
  // One row of x into codes (k), scales (k / 32) and sums of codes (k / 16).
  void (*quantize)(const float* x, int64_t k, int8_t* codes, float* scales, int32_t* sums);
  // Sums of 16 codes each.
  void (*sum_codes)(const int8_t* codes, int64_t units, int32_t* sums);
  // Of those of a row, what a format adds: the row's sums and starts in BlockRows.
  void (*group_sums)(const BlockFormat& format, const int32_t* whole, const float* scales,
                     int64_t units, float* sums, int32_t* starts);
  // Up to kMaxFewBlockRows rows from `first` on with a panel; out: rows x 16, `stride` apart.
  void (*few_rows)(const BlockMatrix& matrix, const uint8_t* panel, const BlockRows& x,
                   int64_t first, int64_t rows, float* out, int64_t stride);
  void (*unpack)(const BlockMatrix& matrix, const uint8_t* panel, int64_t columns,
                 const UnpackedPanel& out);
  void (*many_rows)(const ManyRows& call);
};

constexpr int64_t kMaxFewBlockRows = 4;

// Of the processor; chosen at every call, so that tests can go through all instruction sets. Of all
// formats but kInt4Format, and of that one.
const BlockKernels& block_kernels();
const BlockKernels& int4_kernels();

// What multiply_blocks() does.
void multiply_blocks_by(const BlockKernels& kernels, const BlockMatmul* products, int64_t count,
                        const float* x, int64_t rows, bool fine, uint8_t* scratch);

}  // namespace executorch::kernels::optimized
