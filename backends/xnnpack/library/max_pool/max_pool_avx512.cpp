// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/max_pool/kernel.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack {

namespace {

struct Vector {
  using Value = __m512;
  using Mask = __mmask16;
  static constexpr size_t kLanes = 16;

  static __mmask16 first(size_t count) {
    return static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1U << count) - 1);
  }
  static __m512 load(const float* at, size_t count) {
    return _mm512_maskz_loadu_ps(first(count), at);
  }
  static void store(float* at, __m512 value, size_t count) {
    _mm512_mask_storeu_ps(at, first(count), value);
  }
  static __m512 all(float value) { return _mm512_set1_ps(value); }
  static __m512 min(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
  static __m512 max(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
  static __mmask16 unordered(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
  static __mmask16 either(__mmask16 a, __mmask16 b) { return static_cast<__mmask16>(a | b); }
  static __m512 nan_where(__mmask16 mask, __m512 value) {
    return _mm512_mask_mov_ps(value, mask, _mm512_set1_ps(__builtin_nanf("")));
  }
};

}  // namespace

void max_pool_avx512(size_t pixels, size_t taps, size_t channels, const float** input,
                     size_t input_offset, float* output, size_t input_increment,
                     size_t output_increment, const float* bounds) {
  max_pool<Vector>(pixels, taps, channels, input, input_offset, output, input_increment,
                   output_increment, bounds);
}

}  // namespace executorch::backends::xnnpack
