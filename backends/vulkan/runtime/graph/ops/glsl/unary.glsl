// SPDX-License-Identifier: BSD-3-Clause
// out = f(in), element by element. Codes are those of ops/unary.cpp.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, x)
BUFFER(2, y)
layout(constant_id = 2) const int CODE = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  float p;
  float q;
  int i0;
  int i1;
  int zero_point;
};
#include "activations.glslh"

float apply(float v) {
  switch (CODE) {
    case 0: return abs(v);
    case 1: return cos(v);
    case 2: return exp(v);
    case 3: return -v;
    case 4: return 1.0 / (1.0 + exp(-v));
    case 5: return sin(v);
    case 6: return sqrt(v);
    case 7: return 1.0 / sqrt(v);
    case 8: return hyperbolic_tangent(v);
    case 9: return roundEven(v);
    case 10: return v < 0.0 ? 0.0 : v;
    case 11: return v * clamped(v + 3.0, 0.0, 6.0) / 6.0;
    case 12: return clamped(v + 3.0, 0.0, 6.0) / 6.0;
    case 13: return clamped(v, p, q);
    case 14: return 0.5 * v * (1.0 + error_function(v * 0.70710678118654752));
    case 15: return 0.5 * v * (1.0 + hyperbolic_tangent(0.79788456080286536 * (v + 0.044715 * v * v * v)));
    case 16: return v >= -p && v <= p ? 0.0 : v;
    case 17: return v < 0.0 ? v * p : v;
    case 18: return tan(v);
    case 19: return power(v, p);
    case 20: return v == p ? 1.0 : 0.0;
    case 21: return v != p ? 1.0 : 0.0;
    case 22: return v < p ? 1.0 : 0.0;
    case 23: return v <= p ? 1.0 : 0.0;
    case 24: return v > p ? 1.0 : 0.0;
    case 25: return v >= p ? 1.0 : 0.0;
    case 26: return log(v);
    default: return v;
  }
}

int apply(int v) {
  switch (CODE) {
    case 0: return abs(v);
    case 3: return -v;
    case 10: return max(v, 0);
    case 13: return clamp(v, i0, i1);
    case 20: return int(v == i0);
    case 21: return int(v != i0);
    case 22: return int(v < i0);
    case 23: return int(v <= i0);
    case 24: return int(v > i0);
    case 25: return int(v >= i0);
    case 28: return 1 - v;
    case 29: return int(v == 0);
    case 30: return v != 0 ? 1 : 0;
    default: return v;
  }
}

void main() {
  const int i = invocation_number();
  if (i >= numel) {
    return;
  }
  PLACES_OF(i)
  if (CODE == 31) {  // quantize
    const float v = roundEven(x_float(places.x) * p) + float(zero_point);
    y_set_int(places.y, int(clamp(v, float(i0), float(i1))));
  } else if (CODE == 32) {  // dequantize
    y_set_float(places.y, float(x_int(places.x) - zero_point) * p);
  } else if (CODE == 33) {  // fill
    if (IS_REAL(y)) {
      y_set_float(places.y, p);
    } else {
      y_set_int(places.y, i0);
    }
  } else if (CODE == 30 && IS_REAL(x)) {  // to bool
    y_set_int(places.y, x_float(places.x) != 0.0 ? 1 : 0);
  } else if (CODE == 29 && IS_REAL(x)) {
    y_set_int(places.y, x_float(places.x) == 0.0 ? 1 : 0);
  } else if (CODE == 34) {  // arange: start + i * step
    if (IS_REAL(y)) {
      y_set_float(places.y, p + float(i) * q);
    } else {
      y_set_int(places.y, i0 + i * i1);
    }
  } else if (CODE == 35) {  // quantized to quantized, not below zero
    const float v = max(float(x_int(places.x) - zero_point) * p, 0.0);
    y_set_int(places.y, clamp(int(roundEven(v * q)) + i0, -128, 127));
  } else if (CODE == 36) {  // quantized to quantized
    const float v = float(x_int(places.x) - zero_point) * p;
    y_set_int(places.y, clamp(int(roundEven(v * q)) + i0, -128, 127));
  } else if (IS_REAL(x)) {
    y_set_float(places.y, apply(x_float(places.x)));
  } else {
    y_set_int(places.y, apply(x_int(places.x)));
  }
}
