// SPDX-License-Identifier: BSD-3-Clause
// Conversions between 16-bit floats and f32, conjugates, and the runs of all kernels' loops for
// this processor.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/convert_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/convert_simd.h>
#include <executorch/kernels/portable/loops/element_run.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using executorch::aten::ScalarType;

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

constexpr int64_t kBlock = 64;

// LoadRun and StoreRun (see element_type.h) of 16-bit floats.
template <typename T>
void load_narrow(const void* in, int64_t stride, int64_t n, void* out) {
  if (stride == 1) {
    return widen_values<T>(in, static_cast<float*>(out), n);
  }
  const auto* from = static_cast<const uint16_t*>(in);
  auto* to = static_cast<float*>(out);
  for (; n > 0; n -= kBlock, from += kBlock * stride, to += kBlock) {
    const int64_t count = std::min(n, kBlock);
    uint16_t together[kBlock];
    for (int64_t i = 0; i < count; ++i) {
      together[i] = from[i * stride];
    }
    widen_values<T>(together, to, count);
  }
}

template <typename T>
void store_narrow(const void* in, int64_t n, void* out) {
  narrow_values<T>(static_cast<const float*>(in), out, n);
}

// The portable loops, compiled for this processor.
template <typename From, typename C>
void load_any(const void* in, int64_t stride, int64_t n, void* out) {
  load_run<From, C>(in, stride, n, out);
}
template <typename C, typename To>
void store_any(const void* in, int64_t n, void* out) {
  store_run<C, To>(in, n, out);
}

// f32 to integers of at most 32 bits, by way of int32. Compilers do not vectorize this: what a
// conversion out of range does is theirs to keep.
template <typename To>
void store_truncated(const void* in, int64_t n, void* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* from = static_cast<const float*>(in);
  auto* to = static_cast<To*>(out);
  for (; n > 0; n -= kBlock, from += kBlock, to += kBlock) {
    HWY_ALIGN int32_t values[kBlock];
    const int64_t count = std::min(n, kBlock);
    for (int64_t i = 0; i < count; i += lanes) {
      const auto rest = static_cast<size_t>(std::min(lanes, count - i));
      const auto lane =
          rest == hn::Lanes(d) ? hn::LoadU(d, from + i) : hn::LoadN(d, from + i, rest);
      hn::Store(hn::ConvertInRangeTo(whole, lane), whole, values + i);
    }
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<To>(values[i]);
    }
  }
}

// Rows of integers and Bool.
template <typename T>
FasterRuns whole_runs(ScalarType type) {
  return {type,
          {load_any<T, uint8_t>, load_any<T, int64_t>, load_any<T, float>, nullptr, nullptr},
          {nullptr, store_any<int64_t, T>, store_truncated<T>, nullptr, nullptr}};
}
template <typename T>
FasterRuns narrow_float_runs(ScalarType type) {
  return {type,
          {nullptr, nullptr, load_narrow<T>, nullptr, nullptr},
          {nullptr, nullptr, store_narrow<T>, nullptr, nullptr}};
}

const FasterRuns* faster_runs(int& count) {
  static const FasterRuns kRows[] = {
      whole_runs<int8_t>(ScalarType::Char),
      whole_runs<uint8_t>(ScalarType::Byte),
      whole_runs<int16_t>(ScalarType::Short),
      whole_runs<int32_t>(ScalarType::Int),
      narrow_float_runs<hwy::float16_t>(ScalarType::Half),
      narrow_float_runs<hwy::bfloat16_t>(ScalarType::BFloat16),
      {ScalarType::Bool,
       {nullptr, load_any<bool, int64_t>, load_any<bool, float>, nullptr, nullptr},
       {nullptr, store_any<int64_t, bool>, store_any<float, bool>, nullptr, nullptr}},
      {ScalarType::Float,
       {load_any<float, uint8_t>, nullptr, nullptr, load_any<float, double>, nullptr},
       {nullptr, store_any<int64_t, float>, nullptr, store_any<double, float>, nullptr}},
  };
  count = sizeof(kRows) / sizeof(kRows[0]);
  return kRows;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(widen_any);
HWY_EXPORT(narrow_any);
HWY_EXPORT(conjugate_all);
HWY_EXPORT(faster_runs);

const FasterRuns* runs_with_vectors(int& count) {
  return HWY_DYNAMIC_DISPATCH(faster_runs)(count);
}

void widen_values(bool is_half, const void* in, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_any)(is_half, in, out, n);
}

void narrow_values(bool is_half, const float* in, void* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_any)(is_half, in, out, n);
}

void conjugate(const void* in, void* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(conjugate_all)(in, out, n);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
