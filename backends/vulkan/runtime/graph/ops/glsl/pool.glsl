// SPDX-License-Identifier: BSD-3-Clause
// Means and maxima of windows in planes.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, y)
BUFFER(3, places)
layout(constant_id = 3) const int IS_MAX = 0;
layout(constant_id = 4) const int HAS_PLACES = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  ivec4 sizes;    // in height, width, out height, width
  ivec4 kernel;   // height, width, stride y, x
  ivec4 window;   // padding y, x, dilation y, x
  int numel;
  int divisor;    // 0: as many as the window has
  int counts_padding;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  const int ox = i % sizes.w;
  const int oy = i / sizes.w % sizes.z;
  const int begin = i / (sizes.z * sizes.w) * sizes.x * sizes.y;
  const int y0 = oy * kernel.z - window.x;
  const int x0 = ox * kernel.w - window.y;
  float result = IS_MAX == 1 ? -INFINITY : 0.0;
  int at = -1;
  int inside = 0;
  for (int ky = 0; ky < kernel.x; ++ky) {
    for (int kx = 0; kx < kernel.y; ++kx) {
      const int iy = y0 + ky * window.z;
      const int ix = x0 + kx * window.w;
      if (iy < 0 || iy >= sizes.x || ix < 0 || ix >= sizes.y) {
        continue;
      }
      ++inside;
      const float v = x_float(begin + iy * sizes.y + ix);
      if (IS_MAX == 0) {
        result += v;
      } else if (at < 0 || v > result || isnan(v)) {
        result = v;
        at = iy * sizes.y + ix;
      }
    }
  }
  if (IS_MAX == 0) {
    int count = divisor;
    if (count == 0 && counts_padding == 1) {
      count = (min(y0 + kernel.x, sizes.x + window.x) - y0) * (min(x0 + kernel.y, sizes.y + window.y) - x0);
    } else if (count == 0) {
      count = inside;
    }
    result /= float(count);
  }
  y_set_float(i, result);
  if (HAS_PLACES == 1) {
    places_set_int(i, at);
  }
}
