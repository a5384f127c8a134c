// SPDX-License-Identifier: BSD-3-Clause
// Neighbouring outputs of a depthwise convolution, by one thread.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// Distances are in values.
struct DepthwiseRow {
  const float* lines;  // of the image, those that rows of the filter read
  int64_t num_lines, line_step;
  int64_t columns;       // of a line; beside them are zeros
  int64_t first_column;  // that the first output reads
  const float* filter;   // [line][kernel_w][pitch]
  int64_t kernel_w, stride, dilation;
  int64_t channels, pitch;  // that are computed, and from a position to the next
  const float* bias;        // or null
  float min, max;
  float* output;
  int64_t outputs;
};

void depthwise_row(const DepthwiseRow& row);

}  // namespace executorch::kernels::optimized
