// SPDX-License-Identifier: BSD-3-Clause
// Scale and zero point of each row.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, scales)
BUFFER(3, zeros)
layout(constant_id = 3) const int CODE = 0;  // 0 asymmetric, 1 symmetric, 2 symmetric without clipping, 3 of tokens
layout(constant_id = 4) const int LANES = 1;
layout(std140, set = 0, binding = 0) uniform Params {
  int num_rows;
  int count;
  float low;
  float high;
  float epsilon;
};
#include "lanes.glslh"

void main() {
  const int row = row_number();
  if (row >= num_rows) {
    return;
  }
  float largest = 0.0;
  float smallest = 0.0;
  for (int i = lane(); i < count; i += LANES) {
    const float v = x_float(row * count + i);
    largest = maximum(largest, v);
    smallest = minimum(smallest, v);
  }
  largest = over_lanes_max(largest);
  smallest = -over_lanes_max(-smallest);
  if (lane() != 0) {
    return;
  }
  float scale;
  float zero = floor((low + high + 1.0) / 2.0);
  if (CODE == 0) {
    scale = max((largest - smallest) / (high - low), epsilon);
    zero = clamp(low - roundEven(smallest / scale), low, high);
  } else if (CODE == 3) {
    scale = max((largest - smallest) / (high - low), epsilon);
    const float least = smallest / scale;
    const float most = largest / scale;
    // From the end where the smaller error is made, and rounded there.
    zero = clamp(roundEven((low + least) + (high + most) > 0.0 ? low - least : high - most), low, high);
  } else if (CODE == 1) {
    scale = max(max(largest, -smallest) / ((high - low) / 2.0), epsilon);
  } else {
    scale = max(max(smallest / low, largest / high), epsilon);
  }
  scales_set_float(row, scale);
  zeros_set_float(row, zero);
}
