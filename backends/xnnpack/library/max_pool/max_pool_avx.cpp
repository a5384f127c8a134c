// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/max_pool/kernel.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack {

namespace {

struct Vector {
  using Value = __m256;
  using Mask = __m256;
  static constexpr size_t kLanes = 8;

  static __m256i first(size_t count) {
    static constexpr int kMasks[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + kLanes - count));
  }
  static __m256 load(const float* at, size_t count) {
    return count >= kLanes ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, first(count));
  }
  static void store(float* at, __m256 value, size_t count) {
    if (count >= kLanes) {
      _mm256_storeu_ps(at, value);
    } else {
      _mm256_maskstore_ps(at, first(count), value);
    }
  }
  static __m256 all(float value) { return _mm256_set1_ps(value); }
  static __m256 min(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
  static __m256 max(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
  static __m256 unordered(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_UNORD_Q); }
  static __m256 either(__m256 a, __m256 b) { return _mm256_or_ps(a, b); }
  static __m256 nan_where(__m256 mask, __m256 value) { return _mm256_or_ps(mask, value); }
};

}  // namespace

void max_pool_avx(size_t pixels, size_t taps, size_t channels, const float** input,
                  size_t input_offset, float* output, size_t input_increment,
                  size_t output_increment, const float* bounds) {
  max_pool<Vector>(pixels, taps, channels, input, input_offset, output, input_increment,
                   output_increment, bounds);
}

}  // namespace executorch::backends::xnnpack
