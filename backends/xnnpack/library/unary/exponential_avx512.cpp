// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/unary/exponential.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kLanes = 16;
// Beyond these, results are infinite and 0.
constexpr float kHighest = 89.0f, kLowest = -104.0f;
constexpr float kLog2E = 1.44269504f;
// Their sum is ln(2); the first has so few bits that its multiples are exact.
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
constexpr float kPolynomial[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};

/// Bounds are first operands: NaN stays.
__m512 exponential(__m512 x) {
  x = _mm512_min_ps(_mm512_set1_ps(kHighest), _mm512_max_ps(_mm512_set1_ps(kLowest), x));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(kLog2E)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLn2High), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLn2Low), r);
  __m512 p = _mm512_set1_ps(kPolynomial[0]);
#pragma GCC unroll 5
  for (int i = 1; i < 6; ++i) {
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kPolynomial[i]));
  }
  p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, n);
}

}  // namespace

void exponential_avx512(size_t count, const float* input, float* output) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    _mm512_storeu_ps(output + i, exponential(_mm512_loadu_ps(input + i)));
  }
  if (i < count) {
    const auto mask = static_cast<__mmask16>((1u << (count - i)) - 1);
    _mm512_mask_storeu_ps(output + i, mask, exponential(_mm512_maskz_loadu_ps(mask, input + i)));
  }
}

}  // namespace executorch::backends::xnnpack
