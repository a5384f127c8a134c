// SPDX-License-Identifier: BSD-3-Clause
// Each number is rounded where the operators that these stand for round it, so that results are the
// same to the bit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/transformer/rows_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/kernels/optimized/transformer/rows.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = ::executorch::kernels::optimized::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// part(i, count) for vectors of numbers [i, i + count), of which the last may have fewer.
template <class Part>
HWY_INLINE void for_parts(int64_t n, const Part& part) {
  const auto step = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t i = 0; i < n; i += step) {
    part(i, static_cast<size_t>(std::min(step, n - i)));
  }
}

float mean_of_squares(const float* x, int64_t n) {
  const D d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kSums = 4;
  V sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto square = [&](int64_t at) HWY_ATTR {
    const V v = hn::LoadU(d, x + at);
    return hn::Mul(v, v);
  };
  int64_t i = 0;
  for (; i + kSums * step <= n; i += kSums * step) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) {
      sums[s] = hn::Add(sums[s], square(i + s * step));
    }
  }
  for (; i + step <= n; i += step) {
    sums[0] = hn::Add(sums[0], square(i));
  }
  if (i < n) {
    const V v = hn::LoadN(d, x + i, static_cast<size_t>(n - i));
    sums[1] = hn::Add(sums[1], hn::Mul(v, v));
  }
  const V all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::ReduceSum(d, all) * (1.0f / static_cast<float>(n));
}

void norm(const float* x, const float* weight, int64_t n, float eps, float* out) {
  const D d;
  const V root = hn::Set(d, 1.0f / std::sqrt(mean_of_squares(x, n) + eps));
  for_parts(n, [&](int64_t i, size_t count) HWY_ATTR {
    const V near = hn::Mul(hn::LoadN(d, x + i, count), root);
    hn::StoreN(hn::Mul(near, hn::LoadN(d, weight + i, count)), d, out + i, count);
  });
}

void neighbors(const float* x, const Turn& turn, float* out) {
  const D d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= turn.half; i += step) {
    V a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    const V cos = hn::LoadU(d, turn.cos + i), sin = hn::LoadU(d, turn.sin + i);
    hn::StoreInterleaved2(hn::Sub(hn::Mul(a, cos), hn::Mul(b, sin)),
                          hn::Add(hn::Mul(a, sin), hn::Mul(b, cos)), d, out + 2 * i);
  }
  for (; i < turn.half; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    out[2 * i] = a * turn.cos[i] - b * turn.sin[i];
    out[2 * i + 1] = a * turn.sin[i] + b * turn.cos[i];
  }
}

void halves(const float* x, const Turn& turn, float* out) {
  const D d;
  const int64_t half = turn.half;
  for_parts(half, [&](int64_t i, size_t count) HWY_ATTR {
    const V a = hn::LoadN(d, x + i, count), b = hn::LoadN(d, x + half + i, count);
    const auto by = [&](const float* table, V v, int64_t at)
                        HWY_ATTR { return hn::Mul(v, hn::LoadN(d, table + at + i, count)); };
    hn::StoreN(hn::Sub(by(turn.cos, a, 0), by(turn.sin, b, 0)), d, out + i, count);
    hn::StoreN(hn::Add(by(turn.cos, b, half), by(turn.sin, a, half)), d, out + half + i, count);
  });
}

void gate(const float* x, const float* by, int64_t n, float* out) {
  const D d;
  for_parts(n, [&](int64_t i, size_t count) HWY_ATTR {
    const V v = hn::LoadN(d, x + i, count);
    const V open = hn::Mul(v, math::sigmoid_f32(d, v));
    hn::StoreN(hn::Mul(open, hn::LoadN(d, by + i, count)), d, out + i, count);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(norm);
HWY_EXPORT(neighbors);
HWY_EXPORT(halves);
HWY_EXPORT(gate);

void norm_row(const float* x, const float* weight, int64_t n, float eps, float* out) {
  HWY_DYNAMIC_DISPATCH(norm)(x, weight, n, eps, out);
}
void turn_neighbors(const float* x, const Turn& turn, float* out) {
  HWY_DYNAMIC_DISPATCH(neighbors)(x, turn, out);
}
void turn_halves(const float* x, const Turn& turn, float* out) {
  HWY_DYNAMIC_DISPATCH(halves)(x, turn, out);
}
void gate_row(const float* x, const float* by, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(gate)(x, by, n, out);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
