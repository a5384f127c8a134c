// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/int8/int8_values_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/int8/int8_values.h>
#include <executorch/kernels/optimized/ranges.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {

namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DSum = hn::Rebind<int32_t, D>;
using DByte = hn::Rebind<int8_t, D>;

// body(j, valid): at element j, `valid` of a vector.
template <class Body>
HWY_INLINE void for_each_vector(int64_t count, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    body(j, static_cast<size_t>(lanes), std::true_type());
  }
  if (j < count) {
    body(j, static_cast<size_t>(count - j), std::false_type());
  }
}

template <class Whole, class Tag>
HWY_INLINE hn::Vec<Tag> load(Whole, Tag d, const hn::TFromD<Tag>* from, size_t valid) {
  if constexpr (Whole::value) {
    return hn::LoadU(d, from);
  } else {
    return hn::LoadN(d, from, valid);
  }
}

template <class Whole, class Tag>
HWY_INLINE void store(Whole, hn::Vec<Tag> v, Tag d, hn::TFromD<Tag>* to, size_t valid) {
  if constexpr (Whole::value) {
    hn::StoreU(v, d, to);
  } else {
    hn::StoreN(v, d, to, valid);
  }
}

void requantize(const Requantize& how, const int32_t* sums, int64_t stride, int64_t rows,
                int64_t count, int8_t* out, int64_t out_stride) {
  const D d;
  const DSum d32;
  const DByte d8;
  const auto least = hn::Set(d, static_cast<float>(how.min - how.zero));
  const auto most = hn::Set(d, static_cast<float>(how.max - how.zero));
  const auto zero = hn::Set(d32, how.zero);
  const float* const scales = how.scales;
  const auto rounded = [&](auto whole, const int32_t* from, int64_t j, size_t valid) HWY_ATTR {
    const auto x = hn::Mul(hn::ConvertTo(d, load(whole, d32, from + j, valid)),
                           load(whole, d, scales + j, valid));
    return hn::Add(hn::NearestInt(hn::Max(hn::Min(x, most), least)), zero);
  };
  for (int64_t i = 0; i < rows; ++i, sums += stride, out += out_stride) {
    int64_t done = 0;
#if HWY_MAX_BYTES == 16 && HWY_TARGET != HWY_SCALAR  // four vectors of sums are one of bytes
    const hn::Repartition<int16_t, D> d16;
    const hn::Repartition<int8_t, D> whole8;
    for (const std::true_type whole; done + 16 <= count; done += 16) {
      const auto low = hn::OrderedDemote2To(d16, rounded(whole, sums, done, 4),
                                            rounded(whole, sums, done + 4, 4));
      const auto high = hn::OrderedDemote2To(d16, rounded(whole, sums, done + 8, 4),
                                             rounded(whole, sums, done + 12, 4));
      hn::StoreU(hn::OrderedDemote2To(whole8, low, high), whole8, out + done);
    }
#endif
    for_each_vector(count - done, [&](int64_t j, size_t valid, auto whole) HWY_ATTR {
      store(whole, hn::DemoteTo(d8, rounded(whole, sums, done + j, valid)), d8, out + done + j,
            valid);
    });
  }
}

HWY_INLINE hn::Vec<D> to_floats(hn::Vec<D> floats) {
  return floats;
}
HWY_INLINE hn::Vec<D> to_floats(hn::Vec<DSum> sums) {
  return hn::ConvertTo(D(), sums);
}

template <typename Sum>
void dequantize(const Dequantize<Sum>& how, const Int8Scale* scales, const Sum* sums,
                int64_t stride, int64_t rows, int64_t first, int64_t count, float* out,
                int64_t out_stride) {
  const D d;
  const hn::Rebind<Sum, D> d_sum;
  const auto least = hn::Set(d, how.min), most = hn::Set(d, how.max);
  const float* const bias = how.bias == nullptr ? nullptr : how.bias + first;
  for_each_vector(count, [&](int64_t j, size_t valid, auto whole) HWY_ATTR {
    const auto column = load(whole, d_sum, how.columns + first + j, valid);
    const auto scale = load(whole, d, how.scales + first + j, valid);
    const auto start = bias == nullptr ? hn::Zero(d) : load(whole, d, bias + j, valid);
    const Sum* from = sums + j;
    float* to = out + j;
    for (int64_t i = 0; i < rows; ++i, from += stride, to += out_stride) {
      const auto zero = hn::Set(d_sum, static_cast<Sum>(scales[i].zero));
      const auto sum = hn::Sub(load(whole, d_sum, from, valid), hn::Mul(zero, column));
      const auto x = hn::MulAdd(hn::Mul(to_floats(sum), hn::Set(d, scales[i].scale)), scale, start);
      store(whole, hn::Max(hn::Min(x, most), least), d, to, valid);
    }
  });
}

void range(const float* from, int64_t count, float& least, float& most) {
  constexpr int kAtOnce = 4;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> low[kAtOnce], high[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) {
    low[i] = high[i] = hn::Zero(d);
  }
  int64_t j = 0;
  for (; j + kAtOnce * lanes <= count; j += kAtOnce * lanes) {
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce; ++i) {
      const auto x = hn::LoadU(d, from + j + i * lanes);
      low[i] = hn::Min(low[i], x);
      high[i] = hn::Max(high[i], x);
    }
  }
  for_each_vector(count - j, [&](int64_t at, size_t valid, auto whole) HWY_ATTR {
    const auto x = load(whole, d, from + j + at, valid);
    low[0] = hn::Min(low[0], x);
    high[0] = hn::Max(high[0], x);
  });
  least = hn::ReduceMin(d, hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3])));
  most = hn::ReduceMax(d, hn::Max(hn::Max(high[0], high[1]), hn::Max(high[2], high[3])));
}

void quantize(const float* from, int64_t count, const Int8Scale& by, int8_t* out) {
  const D d;
  const DSum d32;
  const DByte d8;
  const auto factor = hn::Set(d, by.scale);
  const auto least = hn::Set(d, static_cast<float>(-128 - by.zero));
  const auto most = hn::Set(d, static_cast<float>(127 - by.zero));
  const auto zero = hn::Set(d32, by.zero);
  for_each_vector(count, [&](int64_t j, size_t valid, auto whole) HWY_ATTR {
    const auto x = hn::Mul(load(whole, d, from + j, valid), factor);
    const auto rounded = hn::Add(hn::NearestInt(hn::Max(hn::Min(x, most), least)), zero);
    store(whole, hn::DemoteTo(d8, rounded), d8, out + j, valid);
  });
}

const Int8ValueKernels* int8_value_kernels_of_target() {
  static constexpr Int8ValueKernels kKernels = {&requantize, &dequantize<int32_t>,
                                                &dequantize<float>, &range, &quantize};
  return &kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(Int8ValueKernels, int8_value_kernels)

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::parallel_for;

namespace {

constexpr int64_t kGrain = 1 << 13;  // values that are worth a task
constexpr int64_t kMaxParts = 64;    // of a row

struct Ends {
  float least = 0, most = 0;
};

// The first has what numbers are multiplied by, the second what the integers stand for.
struct Scales {
  Int8Scale multiply, meaning;
};

Scales scales_of(const Ends& ends) {
  constexpr float kMin = -128, kMax = 127;
  const float factor = ends.least == ends.most ? 1.0f : (kMax - kMin) / (ends.most - ends.least);
  const float low = ends.least * factor, high = ends.most * factor;
  // From the end that loses less.
  const float zero = kMin + low + kMax + high > 0 ? kMin - low : kMax - high;
  const float bounded = zero > kMin ? std::min(zero, kMax) : kMin;  // of NaN, too
  const auto nearest = static_cast<int32_t>(std::nearbyint(bounded));
  return {{factor, nearest}, {1.0f / factor, nearest}};
}

// By all threads.
Int8Scale quantize_long_row(const Int8ValueKernels& kernels, const float* from, int64_t columns,
                            int8_t* out) {
  const int64_t parts = std::clamp<int64_t>(columns / kGrain, 1, kMaxParts);
  Ends ends[kMaxParts], whole;
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Range part = part_of(columns, parts, i);
      kernels.range(from + part.begin, part.size(), ends[i].least, ends[i].most);
    }
  });
  for (int64_t i = 0; i < parts; ++i) {
    whole = {std::min(whole.least, ends[i].least), std::max(whole.most, ends[i].most)};
  }
  const Scales found = scales_of(whole);
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    const Range part = {part_of(columns, parts, first).begin,
                        part_of(columns, parts, last - 1).end};
    kernels.quantize(from + part.begin, part.size(), found.multiply, out + part.begin);
  });
  return found.meaning;
}

}  // namespace

void quantize_rows(const float* from, int64_t rows, int64_t columns, int8_t* out,
                   Int8Scale* scales) {
  const Int8ValueKernels& kernels = int8_value_kernels();
  if (rows < get_num_threads()) {
    for (int64_t row = 0; row < rows; ++row) {
      scales[row] = quantize_long_row(kernels, from + row * columns, columns, out + row * columns);
    }
    return;
  }
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      Ends ends;
      kernels.range(from + row * columns, columns, ends.least, ends.most);
      const Scales found = scales_of(ends);
      kernels.quantize(from + row * columns, columns, found.multiply, out + row * columns);
      scales[row] = found.meaning;
    }
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
