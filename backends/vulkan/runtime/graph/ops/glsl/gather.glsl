// SPDX-License-Identifier: BSD-3-Clause
// out = in at a place that an index says along one dimension. Operands of the walk: in without that dimension, index, out.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, x)
BUFFER(2, index)
BUFFER(3, y)
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  int size;
  int stride;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  int at = index_int(places.y);
  at = clamp(at < 0 ? at + size : at, 0, size - 1);  // beyond it is undefined, not out of the buffer
  const int from = places.x + at * stride;
  if (IS_REAL(x)) {
    y_set_float(places.z, x_float(from));
  } else {
    y_set_int(places.z, x_int(from));
  }
}
