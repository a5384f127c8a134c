// SPDX-License-Identifier: BSD-3-Clause
// Sum of two tensors of 8-bit integers, as such.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, a)
BUFFER(2, b)
BUFFER(3, y)
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  float a_scale;
  float b_scale;  // alpha included
  float inverse;
  int a_zero;
  int b_zero;
  int zero;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  const float sum = float(a_int(places.x) - a_zero) * a_scale + float(b_int(places.y) - b_zero) * b_scale;
  y_set_int(places.z, int(clamp(roundEven(sum * inverse) + float(zero), -128.0, 127.0)));
}
