// SPDX-License-Identifier: BSD-3-Clause
// Rows less their mean, over their deviation (layer and group norm), or over their root mean square; then weight and bias by place
// or by channel. Also batch norm, whose mean and variance are given.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, w)
BUFFER(3, bias)
BUFFER(4, y)
BUFFER(5, mean)
BUFFER(6, rstd)
layout(constant_id = 6) const int LANES = 1;
// 0 mean and deviation, 1 root mean square, 2 given: mean, and variance in rstd
layout(constant_id = 7) const int CODE = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  int num_rows;
  int count;
  int row_groups;   // rows after which channels begin again
  int per_channel;  // elements of a row that share a weight; 1: weights by place
  int has_weight;
  int has_bias;
  int has_statistics;
  float epsilon;
};
#include "lanes.glslh"

void main() {
  const int row = row_number();
  if (row >= num_rows) {
    return;
  }
  const int begin = row * count;
  const int first_channel = row % row_groups * (count / per_channel);
  float center = 0.0;
  float factor;
  if (CODE == 2) {
    center = mean_float(first_channel);
    factor = 1.0 / sqrt(rstd_float(first_channel) + epsilon);
  } else {
    float sum = 0.0;
    if (CODE == 0) {
      for (int i = lane(); i < count; i += LANES) {
        sum += x_float(begin + i);
      }
      center = over_lanes_sum(sum) / float(count);
      sum = 0.0;
    }
    for (int i = lane(); i < count; i += LANES) {
      const float d = x_float(begin + i) - center;
      sum += d * d;
    }
    factor = 1.0 / sqrt(over_lanes_sum(sum) / float(count) + epsilon);
  }
  for (int i = lane(); i < count; i += LANES) {
    const int channel = first_channel + i / per_channel;
    float v = (x_float(begin + i) - center) * factor;
    v = has_weight == 1 ? v * w_float(channel) : v;
    v = has_bias == 1 ? v + bias_float(channel) : v;
    y_set_float(begin + i, v);
  }
  if (has_statistics == 1 && lane() == 0) {
    mean_set_float(row, center);
    rstd_set_float(row, factor);
  }
}
