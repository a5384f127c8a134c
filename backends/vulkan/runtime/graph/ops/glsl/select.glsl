// SPDX-License-Identifier: BSD-3-Clause
// out = condition ? a : b, sizes repeated.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, condition)
BUFFER(2, a)
BUFFER(3, b)
BUFFER(4, y)
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  const bool first = condition_int(places.x) != 0;
  if (IS_REAL(y)) {
    y_set_float(places.w, first ? a_float(places.y) : b_float(places.z));
  } else {
    y_set_int(places.w, first ? a_int(places.y) : b_int(places.z));
  }
}
