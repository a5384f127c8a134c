// SPDX-License-Identifier: BSD-3-Clause
// The running softmax, as in "Online normalizer calculation for softmax" (arXiv 1805.02867).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/attention/attention_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Weights of lower scores are 0: denormal numbers are slow to compute, and to multiply.
constexpr float kLeastScore = -87.0f;

float highest_of(const float* scores, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto highest = hn::Set(d, kLowest);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    highest = hn::Max(highest, hn::LoadU(d, scores + i));
  }
  if (i < n) {
    highest = hn::Max(highest,
                      hn::LoadNOr(hn::Set(d, kLowest), d, scores + i, static_cast<size_t>(n - i)));
  }
  return hn::ReduceMax(d, highest);
}

template <class D>
HWY_INLINE hn::Vec<D> weight_of(D d, hn::Vec<D> score, hn::Vec<D> highest) {
  const auto x = hn::Sub(score, highest);
  const auto least = hn::Set(d, kLeastScore);
  const auto is_lower = hn::Lt(x, least);
  return hn::IfThenZeroElse(is_lower, exp_f32(d, hn::IfThenElse(is_lower, least, x)));
}

float softmax_step_simd(float* scores, int64_t n, RunningSoftmax& row) {
  const float highest = std::max(row.highest, highest_of(scores, n));
  if (highest == kLowest) {  // no key allowed yet, or none but NaN
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      scores[i] = scores[i] == kLowest ? 0.0f : scores[i];
      sum += scores[i];
    }
    row.total += sum;
    return 1.0f;
  }
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, highest);
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto weight = weight_of(d, hn::LoadU(d, scores + i), shift);
    hn::StoreU(weight, d, scores + i);
    sum = hn::Add(sum, weight);
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    const auto score = hn::LoadNOr(hn::Set(d, kLowest), d, scores + i, rest);
    const auto weight = weight_of(d, score, shift);
    hn::StoreN(weight, d, scores + i, rest);
    sum = hn::Add(sum, weight);
  }
  const float factor = row.highest == kLowest ? 0.0f : std::exp(row.highest - highest);
  row.highest = highest;
  row.total = row.total * factor + hn::ReduceSum(d, sum);
  return factor;
}

void scale_row_simd(float* row, int64_t n, float factor) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i);
  }
  for (; i < n; ++i) {
    row[i] *= factor;
  }
}

void dequantize_row_simd(const int8_t* codes, int64_t n, float scale, int8_t zero, float* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  const auto shift = hn::Set(d32, zero);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto wide = hn::PromoteTo(d32, hn::LoadU(d8, codes + i));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::Sub(wide, shift)), factor), d, out + i);
  }
  for (; i < n; ++i) {
    out[i] = static_cast<float>(codes[i] - zero) * scale;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(dequantize_row_simd);
HWY_EXPORT(scale_row_simd);
HWY_EXPORT(softmax_step_simd);

void dequantize_row(const int8_t* codes, int64_t n, float scale, int8_t zero, float* out) {
  HWY_DYNAMIC_DISPATCH(dequantize_row_simd)(codes, n, scale, zero, out);
}

void scale_row(float* row, int64_t n, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_row_simd)(row, n, factor);
}

float softmax_step(float* scores, int64_t n, RunningSoftmax& row) {
  return HWY_DYNAMIC_DISPATCH(softmax_step_simd)(scores, n, row);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
