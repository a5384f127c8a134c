// SPDX-License-Identifier: BSD-3-Clause
// Weights of floats for kernels that multiply pairs of bfloat16.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// Where weights are: `weights[group * group_stride + filter * filter_stride + tap * tap_stride +
/// channel * channel_stride]`; `bias` is [groups, filters], or null for zeros.
struct FloatWeights {
  const float* weights;
  const float* bias;
  size_t groups, filters, taps, channels;
  size_t group_stride, filter_stride, tap_stride, channel_stride;
};

/// For each `panel` of filters of a group, the last one padded: their biases, then by tap and two
/// channels a pair of each filter, rounded to the nearest, ties to even. Between panels is room for
/// as much again, and `extra_bytes` behind each.
void pack_bfloat16(const FloatWeights& from, size_t panel, size_t extra_bytes, void* packed);

}  // namespace executorch::backends::xnnpack
