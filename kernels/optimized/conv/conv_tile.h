// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of direct convolution, one set per instruction set: tiles of some output channels
// by some vectors of output positions, and what brings the input into planes for them.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int kConvTileRows = 8;
constexpr int kConvTileVectors = 3;  // of a tile of several channels
constexpr int kConvRowVectors = 8;   // of a tile of one channel
constexpr int kConvLanes = 16;       // of a vector, at most

// One vector of positions: lane i reads input[at + i] of every term; the lanes of `bits` go to
// out[first], out[first + 1], ...
struct ConvVector {
  int64_t at;
  int64_t first;
  int64_t count;    // lanes set in bits
  uint8_t bits[8];  // lane i is bit i
};

// out[r][position] = sum over terms p of weight[r * weight_stride + p] * input[at + offset[p]]. The
// terms are `runs` runs of `run` terms, run_step weights and offset_step offsets apart.
struct ConvTile {
  int64_t runs, run, run_step, offset_step;
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

// to[plane][row][col] = from[plane][row][col] with steps between planes, rows and columns. With
// `between`, the columns between those of a step of two go there: as many, or one less.
struct PlaneCopy {
  const float* from;
  int64_t from_plane, from_row, from_col;
  float* to;
  int64_t to_plane, to_row;
  int64_t planes, rows, cols;
  float* between = nullptr;
  int64_t between_cols = 0;
};

struct ConvKernels {
  int64_t rows;   // of the largest tile
  int64_t lanes;  // values in a vector
  // [rows - 1][vectors - 1]
  void (*tile[kConvTileRows][kConvTileVectors])(const ConvTile& tile);
  void (*row[1][kConvRowVectors])(const ConvTile& tile);  // [0][vectors - 1]: of one channel
  void (*copy_planes)(const PlaneCopy& copy);
  // Splits 3 * n values into three rows of n, `step` apart.
  void (*split_triples)(const float* in, int64_t n, float* out, int64_t step);
  // even[0], odd[0], even[1], odd[1], ...: n values.
  void (*interleave_pairs)(const float* even, const float* odd, int64_t n, float* out);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const ConvKernels& conv_kernels();

// One channel by one filter, along an axis of stride and dilation 1 on which it has 3, 5 or 7
// steps: outputs[i][position] = sum over steps s and taps t of weight[s * taps + t] * input[(i + s)
// * step + at + offset[t]].
struct ConvRows {
  const float* input;  // readable for whole vectors
  int64_t step;        // values between neighbours on the axis
  int64_t height;      // steps of the filter
  int64_t taps;        // of each step: those of the other axes
  const int32_t* offset;
  const float* weight;
  float bias;
  int64_t rows;  // outputs on the axis
  const ConvVector* vectors;
  int64_t num_vectors;  // positions of each
  float* out;
  int64_t out_step;
};
void conv_rows(const ConvRows& rows);

}  // namespace executorch::kernels::optimized
