// SPDX-License-Identifier: BSD-3-Clause
// Rows of activations become integers, and sums of those. Included once per target, as
// simd_math-inl.h is.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_ROWS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_ROWS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_ROWS_INL_H_
#endif

#include <executorch/kernels/optimized/blocks/blocks_simd.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
using DF = hn::FixedTag<float, 1>;
#else
using DF = hn::CappedTag<float, kPanelRows>;
#endif
using VF = hn::Vec<DF>;

using DI = hn::Rebind<int32_t, DF>;

constexpr uint8_t kHigher = 128;  // what bytes without a sign are higher than those with one

// The largest magnitude of each unit; of one with a number that is not finite, such a number.
void find_largest(const float* x, int64_t units, float* largest) {
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t unit = 0; unit < units; ++unit) {
    auto most =
        hn::Zero(di);  // bits of magnitudes are in the order of their numbers, NaN above all
    for (int64_t i = 0; i < kUnit; i += lanes) {
      most = hn::Max(most, hn::BitCast(di, hn::Abs(hn::LoadU(d, x + unit * kUnit + i))));
    }
    const int32_t bits = hn::ReduceMax(di, most);
    std::memcpy(largest + unit, &bits, sizeof bits);
  }
}

HWY_INLINE void round_unit(const float* x, float inverse, int8_t* codes) {
  const DF d;
  const hn::Rebind<int8_t, DF> d8;
  const VF by = hn::Set(d, inverse);
  for (int64_t i = 0; i < kUnit; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto near = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), by));
    hn::StoreU(hn::DemoteTo(d8, near), d8, codes + i);
  }
}

// Sums of 16 codes each.
HWY_INLINE void sum_unit(const int8_t* codes, int32_t* sums) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t half = 0; half < 2; ++half) {
    sums[half] = 0;
    for (int64_t i = 0; i < kUnit / 2; ++i) {
      sums[half] += codes[half * kUnit / 2 + i];
    }
  }
#else
  const hn::CappedTag<uint8_t, kUnit / 2> d;
  const hn::RepartitionToWideX3<decltype(d)> d64;
  for (int64_t half = 0; half < 2; ++half) {
    const auto* at = reinterpret_cast<const uint8_t*>(codes) + half * kUnit / 2;
    const auto moved = hn::Xor(hn::LoadU(d, at), hn::Set(d, uint8_t{kHigher}));
    const auto sum = static_cast<int32_t>(hn::ReduceSum(d64, hn::SumsOf8(moved)));
    sums[half] = sum - kHigher * static_cast<int32_t>(kUnit / 2);
  }
#endif
}

void sum_codes(const int8_t* codes, int64_t units, int32_t* sums) {
  for (int64_t unit = 0; unit < units; ++unit) {
    sum_unit(codes + unit * kUnit, sums + 2 * unit);
  }
}

// Largest magnitudes into scales, and what numbers are multiplied by.
void find_scales(int64_t units, float* scales, float* inverse) {
  const DF d;
  const VF most = hn::Set(d, 127.0f);
  const VF least = hn::Set(d, 1e-30f);  // below which 127 / largest overflows
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < units; i += lanes) {
    const auto count = static_cast<size_t>(std::min(lanes, units - i));
    const VF largest = hn::LoadN(d, scales + i, count);
    const auto is_zero = hn::Lt(largest, least);
    hn::StoreN(hn::IfThenZeroElse(is_zero, hn::Div(most, largest)), d, inverse + i, count);
    // An infinite scale is none.
    const VF scale = hn::Add(hn::Div(largest, most), hn::Sub(largest, largest));
    hn::StoreN(hn::IfThenZeroElse(is_zero, scale), d, scales + i, count);
  }
}

void quantize(const float* x, int64_t k, int8_t* codes, float* scales, int32_t* sums) {
  constexpr int64_t kUnits = 64;  // at a time
  float inverse[kUnits];
  for (int64_t first = 0; first < k / kUnit; first += kUnits) {
    const int64_t count = std::min(kUnits, k / kUnit - first);
    find_largest(x + first * kUnit, count, scales + first);
    find_scales(count, scales + first, inverse);
    for (int64_t unit = first; unit < first + count; ++unit) {
      round_unit(x + unit * kUnit, inverse[unit - first], codes + unit * kUnit);
      sum_unit(codes + unit * kUnit, sums + 2 * unit);
    }
  }
}

void group_sums(const BlockFormat& f, const int32_t* whole, const float* scales, int64_t units,
                float* sums, int32_t* starts) {
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool halves = f.groups_per_unit() == 2;
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto offset = hn::Set(di, -f.offset);
  for (; i + lanes <= units; i += lanes) {
    hn::Vec<DI> first, second;
    hn::LoadInterleaved2(di, whole + 2 * i, first, second);
    const VF scale = hn::LoadU(d, scales + i);
    const auto scaled = [&](hn::Vec<DI> sum)
                            HWY_ATTR { return hn::Mul(hn::ConvertTo(d, sum), scale); };
    if (halves) {
      hn::StoreInterleaved2(scaled(first), scaled(second), d, sums + 2 * i);
      hn::StoreInterleaved2(hn::Mul(first, offset), hn::Mul(second, offset), di, starts + 2 * i);
    } else {
      const auto sum = hn::Add(first, second);
      hn::StoreU(scaled(sum), d, sums + i);
      hn::StoreU(hn::Mul(sum, offset), di, starts + i);
    }
  }
#endif
  const int64_t groups = halves ? 2 : 1;
  for (int64_t at = i * groups; at < units * groups; ++at) {
    const int32_t sum = halves ? whole[at] : whole[2 * at] + whole[2 * at + 1];
    sums[at] = scales[at / groups] * static_cast<float>(sum);
    starts[at] = -f.offset * sum;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_ROWS_INL_H_
