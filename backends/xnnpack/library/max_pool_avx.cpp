// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/max_pool.h>

#include <immintrin.h>

#include <cstdint>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kLanes = 8;

__m256i first_lanes(size_t count) {
  static constexpr int kMasks[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + kLanes - count));
}

__m256 load(const float* at, size_t count) {
  return count >= kLanes ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, first_lanes(count));
}

void store(float* at, __m256 value, size_t count) {
  if (count >= kLanes) {
    _mm256_storeu_ps(at, value);
  } else {
    _mm256_maskstore_ps(at, first_lanes(count), value);
  }
}

/// The largest of `taps` values in each of the channels from `channel`, of which `count` are there.
template <size_t kVectors>
void take_largest(size_t taps, size_t channel, size_t count, const float* const* input,
                  size_t input_offset, float* output, const float* bounds) {
  const auto value_of = [&](size_t tap, size_t v) {
    const auto* const pixel =
        reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(input[tap]) + input_offset);
    return load(pixel + channel + v * kLanes, count - v * kLanes);
  };
  __m256 largest[kVectors], is_nan[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    largest[v] = value_of(0, v);
    is_nan[v] = _mm256_cmp_ps(largest[v], largest[v], _CMP_UNORD_Q);
  }
  for (size_t tap = 1; tap < taps; tap += 2) {
    const size_t second = tap + 1 < taps ? tap + 1 : tap;
    for (size_t v = 0; v < kVectors; ++v) {
      const __m256 a = value_of(tap, v), b = value_of(second, v);
      is_nan[v] = _mm256_or_ps(is_nan[v], _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
      largest[v] = _mm256_max_ps(largest[v], _mm256_max_ps(a, b));
    }
  }
  const __m256 low = _mm256_set1_ps(bounds[0]), high = _mm256_set1_ps(bounds[1]);
  for (size_t v = 0; v < kVectors; ++v) {
    const __m256 bounded = _mm256_min_ps(high, _mm256_max_ps(low, largest[v]));
    store(output + channel + v * kLanes, _mm256_or_ps(is_nan[v], bounded), count - v * kLanes);
  }
}

}  // namespace

void max_pool_avx(size_t pixels, size_t taps, size_t channels, const float** input,
                  size_t input_offset, float* output, size_t input_increment,
                  size_t output_increment, const float* bounds) {
  const size_t more = taps > kFirstTaps ? taps - kFirstTaps : 0;
  const size_t pointers = kFirstTaps + (more + kMoreTaps - 1) / kMoreTaps * kMoreTaps;
  for (; pixels != 0; --pixels) {
    size_t channel = 0;
    for (; channel + 4 * kLanes <= channels; channel += 4 * kLanes) {
      take_largest<4>(taps, channel, 4 * kLanes, input, input_offset, output, bounds);
    }
    for (; channel < channels; channel += kLanes) {
      take_largest<1>(taps, channel, channels - channel, input, input_offset, output, bounds);
    }
    input = reinterpret_cast<const float**>(reinterpret_cast<uintptr_t>(input + pointers) +
                                            input_increment);
    output =
        reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(output + channels) + output_increment);
  }
}

}  // namespace executorch::backends::xnnpack
