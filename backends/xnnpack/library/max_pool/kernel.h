// SPDX-License-Identifier: BSD-3-Clause
// Max pooling that keeps NaN, for vectors of any kind. Compiled once for each instruction set:
// include nothing here whose inline functions others may link to.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace executorch::backends::xnnpack {

/// XNNPACK's kernel takes 9 taps, then 8 at a time: so many pointers an output pixel has.
constexpr size_t kFirstTaps = 9;
constexpr size_t kMoreTaps = 8;

/// Arguments as of XNNPACK's xnn_f32_maxpool_ukernel_fn; `bounds` are the least and the largest
/// result.
using MaxPool = void(size_t pixels, size_t taps, size_t channels, const float** input,
                     size_t input_offset, float* output, size_t input_increment,
                     size_t output_increment, const float* bounds);
MaxPool max_pool_avx;
MaxPool max_pool_avx512;

namespace {

/// The largest of `taps` values in each of the channels from `channel`, of which `count` are there.
template <typename V, size_t kVectors>
inline void take_largest(size_t taps, size_t channel, size_t count, const float* const* input,
                         size_t input_offset, float* output, const float* bounds) {
  const auto load = [&](size_t tap, size_t vector) {
    const auto* const pixel =
        reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(input[tap]) + input_offset);
    const size_t first = vector * V::kLanes;
    return V::load(pixel + channel + first, count - first);
  };
  typename V::Value largest[kVectors];
  typename V::Mask is_nan[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    largest[v] = load(0, v);
    is_nan[v] = V::unordered(largest[v], largest[v]);
  }
  for (size_t tap = 1; tap < taps; tap += 2) {
    const size_t second = tap + 1 < taps ? tap + 1 : tap;
    for (size_t v = 0; v < kVectors; ++v) {
      const auto a = load(tap, v);
      const auto b = load(second, v);
      is_nan[v] = V::either(is_nan[v], V::unordered(a, b));
      largest[v] = V::max(largest[v], V::max(a, b));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    const auto bounded = V::min(V::all(bounds[1]), V::max(V::all(bounds[0]), largest[v]));
    V::store(output + channel + v * V::kLanes, V::nan_where(is_nan[v], bounded),
             count - v * V::kLanes);
  }
}

template <typename V>
inline void max_pool(size_t pixels, size_t taps, size_t channels, const float** input,
                     size_t input_offset, float* output, size_t input_increment,
                     size_t output_increment, const float* bounds) {
  const size_t more = taps > kFirstTaps ? taps - kFirstTaps : 0;
  const size_t pointers = kFirstTaps + (more + kMoreTaps - 1) / kMoreTaps * kMoreTaps;
  for (; pixels != 0; --pixels) {
    size_t channel = 0;
    for (; channel + 4 * V::kLanes <= channels; channel += 4 * V::kLanes) {
      take_largest<V, 4>(taps, channel, 4 * V::kLanes, input, input_offset, output, bounds);
    }
    for (; channel < channels; channel += V::kLanes) {
      take_largest<V, 1>(taps, channel, channels - channel, input, input_offset, output, bounds);
    }
    input = reinterpret_cast<const float**>(reinterpret_cast<uintptr_t>(input + pointers) +
                                            input_increment);
    output =
        reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(output + channels) + output_increment);
  }
}

}  // namespace

}  // namespace executorch::backends::xnnpack
