// SPDX-License-Identifier: BSD-3-Clause
// Places of a plane's elements: (x + offset) * stride, (y + offset) * stride, row by row.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, y)
layout(std140, set = 0, binding = 0) uniform Params {
  int numel;
  int width;
  float stride;
  float offset;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  const int element = i >> 1;
  const int place = (i & 1) == 0 ? element % width : element / width;
  y_set_float(i, (float(place) + offset) * stride);
}
