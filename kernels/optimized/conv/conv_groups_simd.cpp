// SPDX-License-Identifier: BSD-3-Clause
// Some outputs at a time, by each vector of weights.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_groups_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/bounds-inl.h>
#include <executorch/kernels/optimized/conv/conv_groups.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int kOutputs = 6;  // at a time

// Channel `kChannel` of each lane's group of two or four.
template <int kChannels, int kChannel>
HWY_INLINE V of_group(V x) {
  if constexpr (kChannels == 2) {
    return kChannel == 0 ? hn::DupEven(x) : hn::DupOdd(x);
  } else {
    return hn::Per4LaneBlockShuffle<kChannel, kChannel, kChannel, kChannel>(x);
  }
}

template <int kChannels, int kCount, int kChannel = 0>
HWY_INLINE void add_channels(const float* weights, const V (&x)[kCount], V (&sum)[kCount]) {
  if constexpr (kChannel < kChannels) {
    const D d;
    const V weight = hn::LoadU(d, weights + kChannel * hn::Lanes(d));
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      sum[i] = hn::MulAdd(of_group<kChannels, kChannel>(x[i]), weight, sum[i]);
    }
    add_channels<kChannels, kCount, kChannel + 1>(weights, x, sum);
  }
}

template <int kChannels, int kCount>
HWY_INLINE void add_tap(const float* weights, const V (&x)[kCount], V (&sum)[kCount]) {
  if constexpr (kChannels < 8) {
    add_channels<kChannels>(weights, x, sum);
  } else {  // the first four of each eight, then the others
    V half[kCount];
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      half[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(x[i]), x[i]);
    }
    add_channels<4>(weights, half, sum);
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      half[i] = hn::OddEvenBlocks(x[i], hn::SwapAdjacentBlocks(x[i]));
    }
    add_channels<4>(weights + 4 * hn::Lanes(D()), half, sum);
  }
}

// Of groups that are a vector each: channels come from memory.
template <int kCount, int kChannel = 0>
HWY_INLINE void add_one_group(const float* weights, const float* input, int64_t step,
                              V (&sum)[kCount]) {
  if constexpr (kChannel < 8) {
    const D d;
    const V weight = hn::LoadU(d, weights + kChannel * hn::Lanes(d));
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      sum[i] = hn::MulAdd(hn::Set(d, input[i * step + kChannel]), weight, sum[i]);
    }
    add_one_group<kCount, kChannel + 1>(weights, input, step, sum);
  }
}

template <int kChannels, int kCount>
HWY_INLINE void outputs_of(const GroupRow& r, int64_t first) {
  const D d;
  const V low = hn::Set(d, r.min);
  const V high = hn::Set(d, r.max);
  const V bias = r.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, r.bias);
  V sum[kCount];
#pragma GCC unroll 6
  for (int i = 0; i < kCount; ++i) {
    sum[i] = bias;
  }
  const float* weights = r.weights;
  const float* const input = r.input + first * r.step;
  for (int64_t tap = 0; tap < r.taps; ++tap) {
    const float* const from = input + r.offsets[tap];
    if (kChannels == 8 && hn::Lanes(d) == 8) {
      add_one_group(weights, from, r.step, sum);
    } else {
      V x[kCount];
#pragma GCC unroll 6
      for (int i = 0; i < kCount; ++i) {
        x[i] = hn::LoadU(d, from + i * r.step);
      }
      add_tap<kChannels>(weights, x, sum);
    }
    weights += kChannels * hn::Lanes(d);
  }
  float* const output = r.output + first * r.output_step;
#pragma GCC unroll 6
  for (int i = 0; i < kCount; ++i) {
    hn::StoreU(keep_within(low, high, sum[i]), d, output + i * r.output_step);
  }
}

template <int kChannels, int kCount = kOutputs>
HWY_INLINE void some_outputs_of(const GroupRow& r, int64_t first, int64_t count) {
  if constexpr (kCount > 0) {
    if (count == kCount) {
      outputs_of<kChannels, kCount>(r, first);
    } else {
      some_outputs_of<kChannels, kCount - 1>(r, first, count);
    }
  }
}

// In parts that differ by one at most.
template <int kChannels>
void row_of(const GroupRow& r) {
  const int64_t parts = (r.outputs + kOutputs - 1) / kOutputs;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t first = r.outputs * i / parts;
    some_outputs_of<kChannels>(r, first, r.outputs * (i + 1) / parts - first);
  }
}

GroupKernels make_group_kernels() {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const auto where_it_fits = [&](int64_t channels, RowOfGroups row) {
    return lanes >= channels ? row : nullptr;
  };
  return {
      lanes,
      {where_it_fits(2, &row_of<2>), where_it_fits(4, &row_of<4>), where_it_fits(8, &row_of<8>)}};
}

const GroupKernels* group_kernels_of_target() {
  static const GroupKernels made = make_group_kernels();
  return &made;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(GroupKernels, group_kernels)
#endif  // HWY_ONCE
