// SPDX-License-Identifier: BSD-3-Clause
// Bilinear resizing along output rows: neighbours are picked from one or two vectors in registers,
// or are vectors of channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/resize/resize_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/resize/resize_simd.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kResizeLanes>;
using V = hn::Vec<D>;

int64_t lanes_of_target() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

// A vector of both rows, mixed, from `at` on.
HWY_INLINE V mix_rows(const BilinearRow& r, int64_t at) {
  const D d;
  const int64_t rest = r.in_count - at;
  const V up = hn::Set(d, 1 - r.down), down = hn::Set(d, r.down);
  if (rest >= static_cast<int64_t>(hn::Lanes(d))) {
    return hn::MulAdd(up, hn::LoadU(d, r.upper + at), hn::Mul(down, hn::LoadU(d, r.lower + at)));
  }
  const auto some = static_cast<size_t>(std::max<int64_t>(rest, 0));
  at = std::min(at, r.in_count);
  return hn::MulAdd(up, hn::LoadN(d, r.upper + at, some),
                    hn::Mul(down, hn::LoadN(d, r.lower + at, some)));
}

template <bool kFar>
void mix_columns(const BilinearRow& r) {
  const D d;
  const int64_t lanes = lanes_of_target();
  const V one = hn::Set(d, 1.0f);
  const int32_t* base = r.bases;
  for (int64_t x = 0; x < r.count; x += lanes, ++base) {
    const auto firsts = hn::SetTableIndices(d, r.firsts + x);
    const auto seconds = hn::SetTableIndices(d, r.seconds + x);
    const V low = mix_rows(r, *base);
    V first, second;
    if constexpr (kFar) {
      const V high = mix_rows(r, *base + lanes);
      first = hn::TwoTablesLookupLanes(d, low, high, firsts);
      second = hn::TwoTablesLookupLanes(d, low, high, seconds);
    } else {
      first = hn::TableLookupLanes(low, firsts);
      second = hn::TableLookupLanes(low, seconds);
    }
    const V right = hn::LoadU(d, r.weights + x);
    const V value = hn::MulAdd(hn::Sub(one, right), first, hn::Mul(right, second));
    if (x + lanes <= r.count) {
      hn::StoreU(value, d, r.out + x);
    } else {
      hn::StoreN(value, d, r.out + x, static_cast<size_t>(r.count - x));
    }
  }
}

void resize_row(const BilinearRow& r) {
  r.far ? mix_columns<true>(r) : mix_columns<false>(r);
}

void mix_pixels(const BilinearPixels& r) {
  const D d;
  const int64_t lanes = lanes_of_target();
  const V down = hn::Set(d, r.down), up = hn::Set(d, 1 - r.down);
  float* HWY_RESTRICT out = r.out;
  for (int64_t x = 0; x < r.count; ++x, out += r.channels) {
    const int64_t first = r.firsts[x] * r.channels, second = r.seconds[x] * r.channels;
    const float weight = r.weights[x];
    const V right = hn::Set(d, weight), left = hn::Set(d, 1 - weight);
    int64_t i = 0;
    for (; i + lanes <= r.channels; i += lanes) {
      const V top = hn::MulAdd(left, hn::LoadU(d, r.upper + first + i),
                               hn::Mul(right, hn::LoadU(d, r.upper + second + i)));
      const V bottom = hn::MulAdd(left, hn::LoadU(d, r.lower + first + i),
                                  hn::Mul(right, hn::LoadU(d, r.lower + second + i)));
      hn::StoreU(hn::MulAdd(up, top, hn::Mul(down, bottom)), d, out + i);
    }
    for (; i < r.channels; ++i) {
      const float top = (1 - weight) * r.upper[first + i] + weight * r.upper[second + i];
      const float bottom = (1 - weight) * r.lower[first + i] + weight * r.lower[second + i];
      out[i] = (1 - r.down) * top + r.down * bottom;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(resize_row);
HWY_EXPORT(mix_pixels);
HWY_EXPORT(lanes_of_target);

void bilinear_row(const BilinearRow& row) {
  HWY_DYNAMIC_DISPATCH(resize_row)(row);
}

void bilinear_pixels(const BilinearPixels& row) {
  HWY_DYNAMIC_DISPATCH(mix_pixels)(row);
}

int64_t resize_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes_of_target)();
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
