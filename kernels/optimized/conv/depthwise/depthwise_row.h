// SPDX-License-Identifier: BSD-3-Clause
// Neighbouring outputs of a depthwise convolution, by one thread, of lines that have the zeros
// beside the image.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// Outputs are computed four and six at a time: where they are not an even number of four or more,
// lines have columns for so many altogether, whose values do not matter.
constexpr int64_t kMaxDepthwiseOutputs = 6;

// Distances are in values.
struct DepthwiseRow {
  const float* const* lines;  // for each row of the filter, from what the first output reads on
  int64_t num_lines;
  int64_t line_pitch;   // of columns of a line
  const float* filter;  // [line][kernel_w][pitch]
  int64_t kernel_w, stride, dilation;
  int64_t channels, pitch;  // that are computed, and from a position to the next
  const float* bias;        // or null
  float min, max;
  float* output;
  int64_t outputs;
};

void depthwise_row(const DepthwiseRow& row);

}  // namespace executorch::kernels::optimized
