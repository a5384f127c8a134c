// SPDX-License-Identifier: BSD-3-Clause
// The loops of blocks.cpp, one set per instruction set.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/blocks/formats.h>

namespace executorch::kernels::optimized {

// Rows of activations as integers; per unit of 32 a scale, per 16 numbers a sum.
struct BlockRows {
  int64_t rows, k;
  const int8_t* codes;    // rows x k
  const float* scales;    // rows x k / 32
  const float* sums;      // rows x k / 16: scale * sum of codes
  const int32_t* starts;  // rows x k / 16: sum of codes * -offset of the format
};

// Panels as bytes and floats, for many rows: what `unpack` writes and `many_rows` reads.
struct UnpackedPanel {
  uint8_t* codes;  // k x 16, quad by quad
  float* scales;   // groups x 16
  float* minima;   // the same, added
};

struct BlockKernels {
  int64_t panels;  // that many_rows takes at once
  // One row of x into codes (k), scales (k / 32), sums and whole sums (k / 16).
  void (*quantize)(const float* x, int64_t k, int8_t* codes, float* scales, float* sums,
                   int32_t* whole);
  // Up to kMaxFewBlockRows rows from `first` on with a panel; out: rows x 16.
  void (*few_rows)(int format, const uint8_t* panel, const BlockRows& x, int64_t first,
                   int64_t rows, float* out);
  void (*unpack)(int format, const uint8_t* panel, int64_t k, const UnpackedPanel& out);
  // Up to kManyBlockRows rows with `count` unpacked panels, at most `panels`; out: rows x 16 *
  // count.
  void (*many_rows)(int format, const UnpackedPanel* panels, int64_t count, const BlockRows& x,
                    int64_t first, int64_t rows, float* out);
};

constexpr int64_t kMaxFewBlockRows = 4;
constexpr int64_t kManyBlockRows = 6;  // at most, of a call of many_rows

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const BlockKernels& block_kernels();

}  // namespace executorch::kernels::optimized
