// SPDX-License-Identifier: BSD-3-Clause
// Planes of another size: the nearest element, or of four neighbours by distance; by a grid of places with CODE 2 and 3.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, grid)
BUFFER(3, y)
layout(constant_id = 3) const int CODE = 0;  // 0 nearest, 1 bilinear, 2 grid with zeros around, 3 with its border
layout(std140, set = 0, binding = 0) uniform Params {
  ivec4 sizes;  // in height, width, out height, width
  int numel;
  int channels;
  int aligns_corners;
  float step_y;
  float step_x;
};

float source(int i, float step, float limit) {
  return aligns_corners == 1 ? float(i) * step : max((float(i) + 0.5) * step - 0.5, 0.0);
}

float at(int begin, int iy, int ix) {
  return iy < 0 || iy >= sizes.x || ix < 0 || ix >= sizes.y ? 0.0 : x_float(begin + iy * sizes.y + ix);
}

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  const int ox = i % sizes.w;
  const int oy = i / sizes.w % sizes.z;
  const int plane = i / (sizes.z * sizes.w);
  const int begin = plane * sizes.x * sizes.y;
  if (CODE == 0) {
    const int iy = min(int(float(oy) * step_y), sizes.x - 1);
    const int ix = min(int(float(ox) * step_x), sizes.y - 1);
    y_set_float(i, x_float(begin + iy * sizes.y + ix));
    return;
  }
  float fy;
  float fx;
  if (CODE >= 2) {
    const int place = ((plane / channels * sizes.z + oy) * sizes.w + ox) * 2;
    const float gx = grid_float(place);
    const float gy = grid_float(place + 1);
    fx = aligns_corners == 1 ? (gx + 1.0) * 0.5 * float(sizes.y - 1) : ((gx + 1.0) * float(sizes.y) - 1.0) * 0.5;
    fy = aligns_corners == 1 ? (gy + 1.0) * 0.5 * float(sizes.x - 1) : ((gy + 1.0) * float(sizes.x) - 1.0) * 0.5;
    if (CODE == 3) {
      fx = min(max(fx, 0.0), float(sizes.y - 1));
      fy = min(max(fy, 0.0), float(sizes.x - 1));
    }
  } else {
    fy = source(oy, step_y, float(sizes.x));
    fx = source(ox, step_x, float(sizes.y));
  }
  const int y0 = int(floor(fy));
  const int x0 = int(floor(fx));
  const float dy = fy - float(y0);
  const float dx = fx - float(x0);
  int y1 = y0 + 1;
  int x1 = x0 + 1;
  if (CODE == 1 || CODE == 3) {
    y1 = min(y1, sizes.x - 1);
    x1 = min(x1, sizes.y - 1);
  }
  const float top = at(begin, y0, x0) * (1.0 - dx) + at(begin, y0, x1) * dx;
  const float bottom = at(begin, y1, x0) * (1.0 - dx) + at(begin, y1, x1) * dx;
  y_set_float(i, top * (1.0 - dy) + bottom * dy);
}
