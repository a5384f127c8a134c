// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of int8_depthwise.cpp, one per instruction set.
#pragma once

#include <executorch/kernels/optimized/int8/int8_values.h>

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kChannelBlock = 16;  // channels are filled up to a multiple
constexpr int64_t kTapGroup = 4;       // so are taps

// Some outputs side by side, of all channels.
struct DepthwisePixels {
  int64_t outputs, channels;
  int64_t tap_groups;
  const int8_t* const* taps;  // of each output, kTapGroup * tap_groups pixels
  // Chunk after chunk of channels, each by group of taps.
  const int8_t* filter;
  const int32_t* starts;
  Requantize result;
  int8_t* output;  // pixels of `channels` bytes
};

struct Int8DepthwiseKernels {
  int64_t blocks;  // of channels that are computed at a time, 1, 2 or 4
  bool flips;  // bytes of the image become unsigned: sums are 128 times those of the filter more
  void (*pixels)(const DepthwisePixels& pixels);
};

const Int8DepthwiseKernels& int8_depthwise_kernels();

}  // namespace executorch::kernels::optimized
