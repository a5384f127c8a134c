// SPDX-License-Identifier: BSD-3-Clause
// out = f(a, b), sizes repeated where one of them has a single element. Codes are those of ops/binary.cpp.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, a)
BUFFER(2, b)
BUFFER(3, y)
layout(constant_id = 3) const int CODE = 0;
// Whether a and b are computed with as real numbers.
layout(constant_id = 4) const int AS_REAL = 1;
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  float alpha;
  int int_alpha;
};
#include "activations.glslh"

float apply(float u, float v) {
  switch (CODE) {
    case 0: return u + alpha * v;
    case 1: return u - alpha * v;
    case 2: return u * v;
    case 3: return u / v;
    case 4: return floor(u / v);
    case 5: return trunc(u / v);
    case 6: return minimum(u, v);
    case 7: return maximum(u, v);
    case 8: return power(u, v);
    case 9: return u == v ? 1.0 : 0.0;
    case 10: return u != v ? 1.0 : 0.0;
    case 11: return u < v ? 1.0 : 0.0;
    case 12: return u <= v ? 1.0 : 0.0;
    case 13: return u > v ? 1.0 : 0.0;
    case 14: return u >= v ? 1.0 : 0.0;
    case 17: return u != 0.0 && v != 0.0 ? 1.0 : 0.0;
    case 18: return u != 0.0 || v != 0.0 ? 1.0 : 0.0;
    default: return 0.0;
  }
}

int integer_power(int u, int v) {
  if (v < 0) {
    return u == 1 ? 1 : u == -1 ? ((v & 1) == 0 ? 1 : -1) : 0;
  }
  int result = 1;
  for (; v > 0; v >>= 1) {
    result = (v & 1) == 1 ? result * u : result;
    u *= u;
  }
  return result;
}

int apply(int u, int v) {
  switch (CODE) {
    case 0: return u + int_alpha * v;
    case 1: return u - int_alpha * v;
    case 2: return u * v;
    case 4: {
      const int q = v == 0 ? 0 : u / v;
      return v != 0 && q * v != u && (u < 0) != (v < 0) ? q - 1 : q;
    }
    case 5: return v == 0 ? 0 : u / v;
    case 6: return min(u, v);
    case 7: return max(u, v);
    case 8: return integer_power(u, v);
    case 9: return int(u == v);
    case 10: return int(u != v);
    case 11: return int(u < v);
    case 12: return int(u <= v);
    case 13: return int(u > v);
    case 14: return int(u >= v);
    case 15: return u & v;
    case 16: return u | v;
    case 17: return int(u != 0 && v != 0);
    case 18: return int(u != 0 || v != 0);
    default: return 0;
  }
}

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  if (AS_REAL == 1) {
    y_set_float(places.z, apply(a_float(places.x), b_float(places.y)));
  } else {
    y_set_int(places.z, apply(a_int(places.x), b_int(places.y)));
  }
}
