// SPDX-License-Identifier: BSD-3-Clause
// Conversions between 16-bit floats and f32, and conjugates.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/convert_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/convert.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void widen_values(const void* in, float* out, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<T, decltype(d)> narrow_tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(in);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow_tag, from + i)), d, out + i);
  }
  if (i < n) {
    HWY_ALIGN T rest[hn::MaxLanes(narrow_tag)] = {};
    std::memcpy(rest, from + i, static_cast<size_t>(n - i) * sizeof(T));
    hn::StoreN(hn::PromoteTo(d, hn::Load(narrow_tag, rest)), d, out + i,
               static_cast<size_t>(n - i));
  }
}

template <typename T>
void narrow_values(const float* in, void* out, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<T, decltype(d)> narrow_tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* to = static_cast<T*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::DemoteTo(narrow_tag, hn::LoadU(d, in + i)), narrow_tag, to + i);
  }
  if (i < n) {
    const auto count = static_cast<size_t>(n - i);
    HWY_ALIGN T rest[hn::MaxLanes(narrow_tag)];
    hn::Store(hn::DemoteTo(narrow_tag, hn::LoadN(d, in + i, count)), narrow_tag, rest);
    std::memcpy(to + i, rest, count * sizeof(T));
  }
}

void widen_any(bool half, const void* in, float* out, int64_t n) {
  half ? widen_values<hwy::float16_t>(in, out, n) : widen_values<hwy::bfloat16_t>(in, out, n);
}

void narrow_any(bool half, const float* in, void* out, int64_t n) {
  half ? narrow_values<hwy::float16_t>(in, out, n) : narrow_values<hwy::bfloat16_t>(in, out, n);
}

// Flips every second sign: the highest bit of each number as one of 64 bits.
void conjugate_all(const void* in, void* out, int64_t n) {
  const hn::ScalableTag<uint64_t> d;
  const auto sign = hn::Set(d, uint64_t{1} << 63);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* from = static_cast<const uint64_t*>(in);
  auto* to = static_cast<uint64_t*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Xor(hn::LoadU(d, from + i), sign), d, to + i);
  }
  for (; i < n; ++i) {
    to[i] = from[i] ^ uint64_t { 1 } << 63;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(widen_any);
HWY_EXPORT(narrow_any);
HWY_EXPORT(conjugate_all);

using executorch::aten::ScalarType;

void widen(ScalarType type, const void* in, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_any)(type == ScalarType::Half, in, out, n);
}

void narrow(ScalarType type, const float* in, void* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_any)(type == ScalarType::Half, in, out, n);
}

void conjugate(const void* in, void* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(conjugate_all)(in, out, n);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
