// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of bilinear resizing, chosen by the processor the program runs on.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kResizeLanes = 16;  // of a vector, at most

// A row of outputs: two input rows are mixed, then two neighbours of what that makes for each
// output. Tables have room for whole vectors.
struct BilinearRow {
  const float *upper, *lower;
  float down;  // the weight of the lower one
  int64_t in_count, count;
  const int32_t* bases;             // of each vector of outputs: the first input that it reads
  const int32_t *firsts, *seconds;  // of each output: how far behind that its neighbours lie
  const float* weights;             // of the second neighbours
  bool far;                         // some lie a vector behind it, or more; none lies two
  float* out;
};
void bilinear_row(const BilinearRow& row);

// A row of outputs of channels last: four pixels are mixed for each.
struct BilinearPixels {
  const float *upper, *lower;
  float down;  // the weight of the lower row
  int64_t channels, count;
  const int32_t *firsts, *seconds;  // pixels of the rows, for each output
  const float* weights;             // of the second ones
  float* out;
};
void bilinear_pixels(const BilinearPixels& row);

// Outputs in a vector of the processor.
int64_t resize_lanes();

}  // namespace executorch::kernels::optimized
