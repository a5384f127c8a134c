// SPDX-License-Identifier: BSD-3-Clause
// Convolution of two dimensions, also transposed, depthwise and grouped: an invocation computes one element. Weights have any
// strides. With IS_QUANTIZED input and weights are integers: the sum is exact, then scaled by channel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"

BUFFER(1, x)
BUFFER(2, w)
BUFFER(3, bias)
BUFFER(4, scales)
BUFFER(5, y)
layout(constant_id = 5) const int IS_TRANSPOSED = 0;
layout(constant_id = 6) const int IS_QUANTIZED = 0;
layout(std140, set = 0, binding = 0) uniform Params {
  ivec4 in_sizes;   // images, channels, height, width
  ivec4 out_sizes;  // the same
  ivec4 kernel;     // height, width, stride y, stride x
  ivec4 window;     // padding y, x, dilation y, x
  ivec4 w_strides;  // output channel, input channel, y, x
  int w_group;      // from one group's weights to the next one's
  int num_groups;
  int has_bias;
  int in_zero;
  int out_zero;
  float in_scale;
  float out_inverse;  // 1 / scale of a quantized output
  float low;
  float high;
  int is_float_out;
};

void main() {
  int rest = invocation_number();
  if (rest >= out_sizes.x * out_sizes.y * out_sizes.z * out_sizes.w) {
    return;
  }
  const int place = rest;
  const int ox = rest % out_sizes.w;
  rest /= out_sizes.w;
  const int oy = rest % out_sizes.z;
  rest /= out_sizes.z;
  const int oc = rest % out_sizes.y;
  const int image = rest / out_sizes.y;
  const int group_out = out_sizes.y / num_groups;
  const int group_in = in_sizes.y / num_groups;
  const int group = oc / group_out;
  const int plane = in_sizes.z * in_sizes.w;
  const int x_begin = (image * in_sizes.y + group * group_in) * plane;
  const int w_begin = group * w_group + (oc - group * group_out) * w_strides.x;
  float sum = 0.0;
  int exact = 0;
  for (int ky = 0; ky < kernel.x; ++ky) {
    int iy;
    if (IS_TRANSPOSED == 1) {
      const int from = oy + window.x - ky * window.z;
      if (from < 0 || from % kernel.z != 0) {
        continue;
      }
      iy = from / kernel.z;
    } else {
      iy = oy * kernel.z - window.x + ky * window.z;
    }
    if (iy < 0 || iy >= in_sizes.z) {
      continue;
    }
    for (int kx = 0; kx < kernel.y; ++kx) {
      int ix;
      if (IS_TRANSPOSED == 1) {
        const int from = ox + window.y - kx * window.w;
        if (from < 0 || from % kernel.w != 0) {
          continue;
        }
        ix = from / kernel.w;
      } else {
        ix = ox * kernel.w - window.y + kx * window.w;
      }
      if (ix < 0 || ix >= in_sizes.w) {
        continue;
      }
      int x_place = x_begin + iy * in_sizes.w + ix;
      int w_place = w_begin + ky * w_strides.z + kx * w_strides.w;
      for (int ic = 0; ic < group_in; ++ic) {
        if (IS_QUANTIZED == 1) {
          exact += (x_int(x_place) - in_zero) * w_int(w_place);
        } else {
          sum += x_float(x_place) * w_float(w_place);
        }
        x_place += plane;
        w_place += w_strides.y;
      }
    }
  }
  if (IS_QUANTIZED == 1) {
    sum = float(exact) * in_scale * scales_float(oc);
  }
  if (has_bias == 1) {
    sum += bias_float(oc);
  }
  sum = sum < low ? low : sum > high ? high : sum;
  if (is_float_out == 1) {
    y_set_float(place, sum);
  } else {
    y_set_int(place, int(clamp(roundEven(sum * out_inverse) + float(out_zero), -128.0, 127.0)));
  }
}
