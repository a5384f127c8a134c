// SPDX-License-Identifier: BSD-3-Clause
// Rotation of pairs by angles of their position.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, cosines)
BUFFER(3, sines)
BUFFER(4, y)
// 0 neighbours (2i, 2i + 1); 1 halves of the first `rotated`; 2 neighbours, cosine and sine beside each other in cosines
layout(constant_id = 4) const int CODE = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  int numel;
  int num_positions;
  int num_heads;
  int width;
  int rotated;
  int table_width;
  int first;
};

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  const int d = i % width;
  const int position = i / width / num_heads % num_positions + first;
  if (CODE == 2) {
    const int place = position * width + (d & ~1);
    const float c = cosines_float(place);
    const float s = cosines_float(place + 1);
    y_set_float(i, (d & 1) == 0 ? x_float(i) * c - x_float(i + 1) * s : x_float(i - 1) * s + x_float(i) * c);
  } else if (CODE == 0) {
    const int place = position * table_width + d / 2;
    const float c = cosines_float(place);
    const float s = sines_float(place);
    y_set_float(i, (d & 1) == 0 ? x_float(i) * c - x_float(i + 1) * s : x_float(i - 1) * s + x_float(i) * c);
  } else if (d >= rotated) {
    y_set_float(i, x_float(i));
  } else {
    const int place = position * table_width + d;
    const int half_width = rotated / 2;
    const float other = d < half_width ? -x_float(i + half_width) : x_float(i - half_width);
    y_set_float(i, x_float(i) * cosines_float(place) + other * sines_float(place));
  }
}
