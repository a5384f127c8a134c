// SPDX-License-Identifier: BSD-3-Clause
// SplitMix64 with one draw a 64-bit lane; its halves are two neighbouring f32 lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/random_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/random.h>
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/kernels/portable/random.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Draws = hn::Repartition<uint64_t, D>;
constexpr int64_t kVectors = 2;  // written at a time

// Uniform numbers of the draws from `number` on.
HWY_INLINE V uniform(uint64_t number) {
  const Draws d;
  const hn::RebindToUnsigned<D> halves;
  const hn::RebindToSigned<D> whole;
  auto z = hn::Mul(hn::Iota(d, number + 1), hn::Set(d, kRandomStep));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, kRandomMix[0]));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, kRandomMix[1]));
  z = hn::Xor(z, hn::ShiftRight<31>(z));
  const auto bits = hn::BitCast(whole, hn::ShiftRight<8>(hn::BitCast(halves, z)));
  return hn::Mul(hn::ConvertTo(D(), bits), hn::Set(D(), kRandomUnit));
}

// The 2 * Lanes(D) numbers of the draws from `number` on.
HWY_INLINE void write_uniform(uint64_t number, float* out) {
  const D d;
  hn::StoreU(uniform(number), d, out);
  hn::StoreU(uniform(number + hn::Lanes(Draws())), d, out + hn::Lanes(d));
}

// The same by Box and Muller's transform of each draw's two numbers.
HWY_INLINE void write_normal(uint64_t number, float* out) {
  const D d;
  const V low = uniform(number), high = uniform(number + hn::Lanes(Draws()));
  const V chance = hn::ConcatEven(d, high, low), turn = hn::ConcatOdd(d, high, low);
  const V logarithm = hn::Log(d, hn::Sub(hn::Set(d, 1.0f), chance));
  const V radius = hn::Sqrt(hn::Max(hn::Zero(d), hn::Mul(hn::Set(d, -2.0f), logarithm)));
  V sine, cosine;
  hn::SinCos(d, hn::Mul(turn, hn::Set(d, 6.283185307179586477f)), sine, cosine);
  hn::StoreInterleaved2(hn::Mul(radius, cosine), hn::Mul(radius, sine), d, out);
}

template <typename Write>
HWY_INLINE void write_all(uint64_t number, float* out, int64_t n, const Write& write) {
  const auto step = kVectors * static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + step <= n; i += step, number += static_cast<uint64_t>(step) / 2) {
    write(number, out + i);
  }
  if (i < n) {
    HWY_ALIGN float rest[kVectors * hn::MaxLanes(D())];
    write(number, rest);
    std::copy_n(rest, n - i, out + i);
  }
}

void write_random(bool normal, uint64_t number, float* out, int64_t n) {
  normal ? write_all(number, out, n, write_normal) : write_all(number, out, n, write_uniform);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(write_random);

void random_values(bool normal, uint64_t draw, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(write_random)(normal, draw, out, n);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
