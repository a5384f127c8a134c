// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of XNNPACK's kernels that lose NaN (corrections.cmake says which). On x86
// the instructions for minimum and maximum give their second operand where either is NaN.
//
//   ET_BOUNDS_SECOND  The second operand is a bound. It comes first, and NaN stays, at no cost.
//   ET_VALUES         Both are values: NaN of either stays.
//   ET_LANES_BY_DEPTH The last step of a sum, of fewer values than lanes, leaves out the lanes
//                     behind them, not those whose weight is zero: NaN times zero is NaN.
//   ET_SMALL_EXPONENT The exponent -|x| of a sigmoid stays in the range that is computed.
//   ET_EXACT_ROOT     A root, not x times an estimate of its reciprocal: that is NaN for infinity.
//   ET_LOG_SIMD       XNNPACK's header of a vector type: logarithms of infinity and NaN are
//                     those, not that of 2^128.
#pragma once

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#include <immintrin.h>
#endif

#ifdef ET_BOUNDS_SECOND
#define _mm_min_ps(value, bound) (_mm_min_ps)(bound, value)
#define _mm_max_ps(value, bound) (_mm_max_ps)(bound, value)
#define _mm_min_ss(value, bound) (_mm_min_ss)(bound, value)
#define _mm_max_ss(value, bound) (_mm_max_ss)(bound, value)
#define _mm256_min_ps(value, bound) (_mm256_min_ps)(bound, value)
#define _mm256_max_ps(value, bound) (_mm256_max_ps)(bound, value)
#define _mm512_min_ps(value, bound) (_mm512_min_ps)(bound, value)
#define _mm512_max_ps(value, bound) (_mm512_max_ps)(bound, value)
#endif

#ifdef ET_VALUES
// The result of comparing `first` with another value, or NaN.
static inline __m128 or_nan(__m128 first, __m128 result) {
  return _mm_or_ps(result, _mm_cmpunord_ps(first, first));
}
#define _mm_min_ps(a, b) or_nan(a, (_mm_min_ps)(a, b))
#define _mm_max_ps(a, b) or_nan(a, (_mm_max_ps)(a, b))
#if defined(__AVX__) || defined(_MSC_VER)
static inline __m256 or_nan_of_8(__m256 first, __m256 result) {
  return _mm256_or_ps(result, _mm256_cmp_ps(first, first, _CMP_UNORD_Q));
}
#define _mm256_min_ps(a, b) or_nan_of_8(a, (_mm256_min_ps)(a, b))
#define _mm256_max_ps(a, b) or_nan_of_8(a, (_mm256_max_ps)(a, b))
#endif
#if defined(__AVX512F__) || defined(_MSC_VER)
static inline __m512 or_nan_of_16(__m512 first, __m512 result) {
  return _mm512_mask_mov_ps(result, _mm512_cmp_ps_mask(first, first, _CMP_UNORD_Q), first);
}
#define _mm512_min_ps(a, b) or_nan_of_16(a, (_mm512_min_ps)(a, b))
#define _mm512_max_ps(a, b) or_nan_of_16(a, (_mm512_max_ps)(a, b))
#define _mm512_maskz_min_ps(mask, a, b) _mm512_maskz_mov_ps(mask, _mm512_min_ps(a, b))
#define _mm512_maskz_max_ps(mask, a, b) _mm512_maskz_mov_ps(mask, _mm512_max_ps(a, b))
#endif
#endif

#ifdef ET_LANES_BY_DEPTH
// Of the bytes `k` that are left: a variable of the kernels.
#define _mm_cmpeq_ps(zero, weights) lanes_from(k / sizeof(float))
static inline __m128 lanes_from(size_t count) {
  static const int kMasks[] = {0, 0, 0, 0, -1, -1, -1, -1};
  return _mm_loadu_ps((const float*)kMasks + 4 - count);
}
#endif

#ifdef ET_SMALL_EXPONENT
// exp(-128) is 0 in single precision.
static inline __m512i at_least_128_below(__m512i exponent) {
  return _mm512_castps_si512(_mm512_max_ps(_mm512_set1_ps(-128.0f), _mm512_castsi512_ps(exponent)));
}
#define _mm512_or_epi32(x, sign) at_least_128_below((_mm512_or_epi32)(x, sign))
#endif

#ifdef ET_EXACT_ROOT
#define _mm256_mul_ps(x, estimate) _mm256_sqrt_ps(x)
#endif

#ifdef ET_LOG_SIMD
#include ET_LOG_SIMD
// Instead of the kernels' own. The exponent of `a` as a number: -infinity for zero, `a` for
// infinity and NaN, NaN below zero. The biased exponent becomes the low bits of 256 + exponent.
#define HAVE_XNN_SIGNED_GETEXP_F32
static XNN_INLINE xnn_simd_f32_t xnn_signed_getexp_f32(xnn_simd_f32_t a) {
  XNN_SIMD_CONST_F32(sign, -0.0f);
  XNN_SIMD_CONST_F32(bias_256, 256.0f);
  XNN_SIMD_CONST_F32(bias_383, 383.0f);
  XNN_SIMD_CONST_F32_FROM_INT32(exponent, 0x7f800000);
  XNN_SIMD_CONST_F32_FROM_INT32(sign_and_exponent, 0xff800000);
  a = xnn_or_f32(xnn_and_f32(xnn_cmpeq_f32(a, xnn_zero_f32()), sign), a);
  const xnn_simd_f32_t shifted = xnn_sra_f32(xnn_and_f32(a, sign_and_exponent), 8);
  const xnn_simd_f32_t of_numbers = xnn_sub_f32(xnn_or_f32(bias_256, shifted), bias_383);
  const xnn_simd_f32_t no_number = xnn_cmpeq_f32(xnn_and_f32(a, exponent), exponent);
  return xnn_or_f32(of_numbers, xnn_and_f32(no_number, a));  // 128 has only bits of infinity
}
#endif
