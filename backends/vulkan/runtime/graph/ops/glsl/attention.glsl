// SPDX-License-Identifier: BSD-3-Clause
// softmax(q k^T * scale + mask) v: a group of invocations computes a row, whose weights are kept in `weights`.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, q)
BUFFER(2, k)
BUFFER(3, v)
BUFFER(4, mask)
BUFFER(5, weights)
BUFFER(6, y)
layout(constant_id = 6) const int HAS_MASK = 0;
const int LANES = 64;
layout(std140, set = 0, binding = 0) uniform Params {
  ivec4 q_strides;     // batch, head, row, 1
  ivec4 k_strides;
  ivec4 v_strides;
  ivec4 y_strides;
  ivec4 mask_strides;  // batch, head, row, column
  int num_batches;
  int num_heads;
  int num_rows;
  int heads_per_key;
  int num_keys;
  int width;
  int v_width;
  int is_causal;
  int first;  // place of row 0 among the keys
  int row_stride;
  float scale;
};
#include "lanes.glslh"

void main() {
  const int row = row_number();
  if (row >= num_batches * num_heads * num_rows) {
    return;
  }
  const int s = row % num_rows;
  const int head = row / num_rows % num_heads;
  const int batch = row / (num_rows * num_heads);
  const int q_place = batch * q_strides.x + head * q_strides.y + s * q_strides.z;
  const int k_place = batch * k_strides.x + head / heads_per_key * k_strides.y;
  const int v_place = batch * v_strides.x + head / heads_per_key * v_strides.y;
  const int m_place = batch * mask_strides.x + head * mask_strides.y + s * mask_strides.z;
  const int y_place = batch * y_strides.x + head * y_strides.y + s * y_strides.z;
  const int w_place = row * row_stride;
  const int count = is_causal == 1 ? min(first + s + 1, num_keys) : num_keys;
  float largest = -INFINITY;
  for (int t = lane(); t < count; t += LANES) {
    float sum = 0.0;
    for (int d = 0; d < width; ++d) {
      sum += q_float(q_place + d) * k_float(k_place + t * k_strides.z + d);
    }
    sum *= scale;
    if (HAS_MASK == 1) {
      if (IS_REAL(mask)) {
        sum += mask_float(m_place + t * mask_strides.w);
      } else if (mask_int(m_place + t * mask_strides.w) == 0) {
        sum = -INFINITY;
      }
    }
    weights_set_float(w_place + t, sum);
    largest = maximum(largest, sum);
  }
  largest = over_lanes_max(largest);
  float total = 0.0;
  for (int t = lane(); t < count; t += LANES) {
    const float e = exp(weights_float(w_place + t) - largest);
    weights_set_float(w_place + t, e);
    total += e;
  }
  total = over_lanes_sum(total);
  memoryBarrierBuffer();
  barrier();
  for (int d = lane(); d < v_width; d += LANES) {
    float sum = 0.0;
    for (int t = 0; t < count; ++t) {
      sum += weights_float(w_place + t) * v_float(v_place + t * v_strides.z + d);
    }
    y_set_float(y_place + d, sum / total);
  }
}
