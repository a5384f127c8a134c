// SPDX-License-Identifier: BSD-3-Clause
// Rows of a table of 4-bit numbers in groups.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, table)
BUFFER(2, scales)
BUFFER(3, index)
BUFFER(4, y)
layout(constant_id = 4) const int IS_EVEN_LOW = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  int numel;
  int width;
  int num_rows;
  int row_bytes;
  int group_size;
  int scales_stride;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  const int column = i % width;
  const int row = clamp(index_int(i / width), 0, num_rows - 1);
  const int word = table_int(row * row_bytes + (column >> 1)) & 0xFF;
  const bool is_low = ((column & 1) == 0) == (IS_EVEN_LOW == 1);
  const float value = float((is_low ? word & 15 : word >> 4) - 8);
  y_set_float(i, value * scales_float(row * scales_stride + column / group_size));
}
