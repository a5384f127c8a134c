// SPDX-License-Identifier: BSD-3-Clause
// Softmax, or its logarithm, along a dimension.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, y)
layout(constant_id = 2) const int IS_LOG = 0;
layout(constant_id = 3) const int LANES = 1;
layout(std140, set = 0, binding = 0) uniform Params {
  int num_rows;
  int count;
  int stride;  // of the dimension
};
#include "lanes.glslh"

void main() {
  const int row = row_number();
  if (row >= num_rows) {
    return;
  }
  const int begin = row / stride * stride * count + row % stride;
  float largest = -INFINITY;
  for (int i = lane(); i < count; i += LANES) {
    largest = maximum(largest, x_float(begin + i * stride));
  }
  largest = over_lanes_max(largest);
  float sum = 0.0;
  for (int i = lane(); i < count; i += LANES) {
    sum += exp(x_float(begin + i * stride) - largest);
  }
  sum = over_lanes_sum(sum);
  const float log_sum = log(sum);
  for (int i = lane(); i < count; i += LANES) {
    const float v = x_float(begin + i * stride) - largest;
    y_set_float(begin + i * stride, IS_LOG == 1 ? v - log_sum : exp(v) / sum);
  }
}
