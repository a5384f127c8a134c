// SPDX-License-Identifier: BSD-3-Clause
// Numbers to integers and back with scales and zero points that are tensors. Operands of the walk: in, scales, out.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, x)
BUFFER(2, scales)
BUFFER(3, zeros)
BUFFER(4, y)
layout(constant_id = 4) const int IS_BACK = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  int has_zeros;
  int low;
  int high;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  const float scale = scales_float(places.y);
  const float zero = has_zeros == 1 ? zeros_float(places.y) : 0.0;
  if (IS_BACK == 1) {
    y_set_float(places.z, (x_float(places.x) - zero) * scale);
  } else {
    y_set_int(places.z, int(clamp(roundEven(x_float(places.x) * (1.0 / scale)) + zero, float(low), float(high))));
  }
}
