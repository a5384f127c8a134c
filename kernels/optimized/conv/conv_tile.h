// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of direct convolution, one set per instruction set: some output channels by up to
// three vectors of output positions, with no copy of the input per filter tap.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int kConvTileRows = 8;
constexpr int kConvTileVectors = 3;
constexpr int kConvLanes = 16;  // of a vector, at most

// Where the lanes of one vector of positions go: those of `bits` to out[first], out[first + 1], ...
struct ConvVector {
  int64_t first;
  int64_t count;    // lanes set in bits
  uint8_t bits[8];  // lane i is bit i
};

// out[r][position] = sum over terms p < k of weight[r * weight_stride + p] * input[offset[p] +
// position].
struct ConvTile {
  int64_t k;
  const float* weight;
  int64_t weight_stride;
  const float* input;  // readable for whole vectors at every offset
  const int32_t* offset;
  const ConvVector* vectors;
  float* out;
  int64_t out_stride;  // values between channels
  const float* bias;   // of the first row, or nullptr
  bool accumulate;     // add to what out holds
};

struct ConvKernels {
  int64_t rows;   // of the largest tile
  int64_t lanes;  // values in a vector
  // [rows - 1][vectors - 1]
  void (*tile[kConvTileRows][kConvTileVectors])(const ConvTile& tile);
  // Splits 2 * n values into those at even and at odd places. May read two vectors more.
  void (*split_pairs)(const float* in, int64_t n, float* even, float* odd);
};

const ConvKernels& conv_kernels();

}  // namespace executorch::kernels::optimized
