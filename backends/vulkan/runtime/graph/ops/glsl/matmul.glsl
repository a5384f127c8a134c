// SPDX-License-Identifier: BSD-3-Clause
// out[m, n] = alpha * sum of a[m, k] * b[k, n] + beta * bias, within limits; batches of it, any strides. An invocation computes
// ROWS x 4 elements, whose operands it keeps in registers.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, a)
BUFFER(2, b)
BUFFER(3, bias)
BUFFER(4, scales)
BUFFER(5, row_scales)
BUFFER(6, row_zeros)
BUFFER(7, y)
layout(constant_id = 7) const int ROWS = 4;
// What b holds: 0 numbers; 1 int8 to be scaled by column; 2 two numbers of 4 bits to a byte, the even one high, scaled by column;
// 3 the even one low, scaled by group and column.
layout(constant_id = 8) const int FORMAT = 0;
// Whether a is rounded to 8 bits, by row, before it is multiplied.
layout(constant_id = 9) const int IS_QUANTIZED = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  ivec4 a_strides;     // batch, row, k
  ivec4 b_strides;     // batch, k, column; row bytes of packed weights
  ivec4 y_strides;     // batch, row, column
  ivec4 bias_strides;  // batch, row, column
  int num_batches;
  int num_rows;
  int num_columns;
  int num_k;
  int group_size;
  int scales_stride;
  float alpha;
  float beta;
  float low;
  float high;
};

float weight(int batch_place, int k, int n) {
  if (FORMAT == 0) {
    return b_float(batch_place + k * b_strides.y + n * b_strides.z);
  }
  if (FORMAT == 1) {
    return float(b_int(n * b_strides.w + k));
  }
  const int word = b_int(n * b_strides.w + (k >> 1)) & 0xFF;
  const bool is_high = ((k & 1) == 1) != (FORMAT == 2);
  const int value = (is_high ? word >> 4 : word & 15) - 8;
  return FORMAT == 2 ? float(value) : float(value) * scales_float(k / group_size * scales_stride + n);
}

void main() {
  const int i = invocation_number();
  const int row_tiles = (num_rows + ROWS - 1) / ROWS;
  const int column_tiles = (num_columns + 3) / 4;
  if (i >= row_tiles * column_tiles * num_batches) {
    return;
  }
  const int batch = i / (row_tiles * column_tiles);
  const int tile = i - batch * row_tiles * column_tiles;
  const int m0 = tile / column_tiles * ROWS;
  const int n0 = tile % column_tiles * 4;
  const int batch_place = batch * b_strides.x;
  float sums[4][4];
  float scale[4];
  float inverse[4];  // as PyTorch quantizes: a quotient falls otherwise near ties
  float zero[4];
  int a_place[4];
  for (int r = 0; r < ROWS; ++r) {
    const int m = min(m0 + r, num_rows - 1);
    a_place[r] = batch * a_strides.x + m * a_strides.y;
    if (IS_QUANTIZED == 1) {
      scale[r] = row_scales_float(m);
      inverse[r] = 1.0 / scale[r];
      zero[r] = row_zeros_float(m);
    }
    for (int c = 0; c < 4; ++c) {
      sums[r][c] = 0.0;
    }
  }
  for (int k = 0; k < num_k; ++k) {
    float w[4];
    for (int c = 0; c < 4; ++c) {
      w[c] = weight(batch_place, k, min(n0 + c, num_columns - 1));
    }
    for (int r = 0; r < ROWS; ++r) {
      float v = a_float(a_place[r] + k * a_strides.z);
      if (IS_QUANTIZED == 1) {
        v = (clamp(roundEven(v * inverse[r]) + zero[r], -128.0, 127.0) - zero[r]) * scale[r];
      }
      for (int c = 0; c < 4; ++c) {
        sums[r][c] += v * w[c];
      }
    }
  }
  for (int r = 0; r < ROWS && m0 + r < num_rows; ++r) {
    for (int c = 0; c < 4 && n0 + c < num_columns; ++c) {
      const int m = m0 + r;
      const int n = n0 + c;
      float v = alpha * sums[r][c];
      if (FORMAT == 1 || FORMAT == 2) {
        v *= scales_float(n);
      }
      if (beta != 0.0) {
        v += beta * bias_float(batch * bias_strides.x + m * bias_strides.y + n * bias_strides.z);
      }
      v = v < low ? low : v > high ? high : v;
      y_set_float(batch * y_strides.x + m * y_strides.y + n * y_strides.z, v);
    }
  }
}
