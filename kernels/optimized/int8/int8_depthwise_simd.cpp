// SPDX-License-Identifier: BSD-3-Clause
// Bytes of four taps are put side by side, by channel, and multiplied with four of the filter.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/int8/int8_depthwise_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/int8/int8_depthwise_simd.h>
#include <executorch/kernels/optimized/int8_dots/int8_dots-inl.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void pixels_plain(const DepthwisePixels& p) {
  const Requantize& how = p.result;
  for (int64_t i = 0; i < p.outputs; ++i) {
    const int8_t* const* const taps = p.taps + i * p.tap_groups * kTapGroup;
    for (int64_t c = 0; c < p.channels; ++c) {
      const int8_t* const filter =
          p.filter + (c / kChannelBlock * p.tap_groups * kChannelBlock + c % kChannelBlock) * 4;
      int32_t sum = p.starts[c];
      for (int64_t t = 0; t < p.tap_groups * kTapGroup; ++t) {
        sum += taps[t][c] * filter[t / kTapGroup * kChannelBlock * kTapGroup + t % kTapGroup];
      }
      const float value = std::nearbyint(std::clamp(static_cast<float>(sum) * how.scales[c],
                                                    static_cast<float>(how.min - how.zero),
                                                    static_cast<float>(how.max - how.zero)));
      p.output[i * p.channels + c] = static_cast<int8_t>(static_cast<int32_t>(value) + how.zero);
    }
  }
}

const Int8DepthwiseKernels* int8_depthwise_kernels_of_target() {
  static constexpr Int8DepthwiseKernels kKernels = {1, false, &pixels_plain};
  return &kKernels;
}

#else

constexpr int kMaxBlocks =
    HWY_MIN(4, static_cast<int>(hn::MaxLanes(hn::ScalableTag<int8_t>())) / 16);
#if HWY_ARCH_ARM
constexpr bool kFlips = false;
#else
constexpr bool kFlips = true;
#endif

// Groups of four products, each to a sum.
struct ByHighway {
  template <class DSums, class VBytes>
  static HWY_INLINE hn::Vec<DSums> add(DSums d, VBytes image, VBytes filter, hn::Vec<DSums> sum) {
    if constexpr (kFlips) {
      const hn::Repartition<uint8_t, DSums> du;
      const auto unsigned_image = hn::Xor(hn::BitCast(du, image), hn::Set(du, uint8_t{0x80}));
      return hn::SumOfMulQuadAccumulate(d, unsigned_image, filter, sum);
    } else {
      return hn::SumOfMulQuadAccumulate(d, image, filter, sum);
    }
  }
};

#if EXECUTORCH_ARM_DOTS
struct BySdot {
  template <class DSums, class VBytes>
  static HWY_INLINE hn::Vec<DSums> add(DSums, VBytes image, VBytes filter, hn::Vec<DSums> sum) {
    asm volatile(EXECUTORCH_ARM_VECTOR_NUMBERS
                 ".inst 0x4E809400 | .Let_%0 | .Let_%1 << 5 | .Let_%2 << 16"
                 : "+w"(sum.raw)
                 : "w"(image.raw), "w"(filter.raw));
    return sum;
  }
};
#endif

template <class D8, bool kWhole>
HWY_INLINE hn::Vec<D8> load_channels(D8 d, const int8_t* from, size_t valid) {
  if constexpr (kWhole) {
    return hn::LoadU(d, from);
  } else {
    return hn::LoadN(d, from, valid);
  }
}

// kBlocks * 16 channels from `channel` on, fewer where not kWhole, of all outputs. Word j of block
// b of the q-th vector of sums is of channel 16 * b + 4 * q + j.
template <class Dots, int kBlocks, bool kWhole>
HWY_NOINLINE void chunk(const DepthwisePixels& p, int64_t channel) {
  const hn::CappedTag<int8_t, kBlocks * 16> d8;
  const hn::RepartitionToWide<decltype(d8)> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Rebind<float, decltype(d32)> d;
  constexpr int64_t kWords = kBlocks * 4;
  const auto valid = static_cast<size_t>(p.channels - channel);
  const float* const scales = p.result.scales + channel;
  const int32_t* const starts = p.starts + channel;
  const auto least = hn::Set(d, static_cast<float>(p.result.min - p.result.zero));
  const auto most = hn::Set(d, static_cast<float>(p.result.max - p.result.zero));
  const auto zero = hn::Set(d32, p.result.zero);
  for (int64_t i = 0; i < p.outputs; ++i) {
    hn::Vec<decltype(d32)> sum[4];
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      sum[q] = hn::LoadU(d32, starts + q * kWords);
    }
    const int8_t* const* taps = p.taps + i * p.tap_groups * kTapGroup;
    const int8_t* filter = p.filter + channel * p.tap_groups * kTapGroup;
    for (int64_t group = 0; group < p.tap_groups; ++group, taps += kTapGroup) {
      const auto a = load_channels<decltype(d8), kWhole>(d8, taps[0] + channel, valid);
      const auto b = load_channels<decltype(d8), kWhole>(d8, taps[1] + channel, valid);
      const auto e = load_channels<decltype(d8), kWhole>(d8, taps[2] + channel, valid);
      const auto f = load_channels<decltype(d8), kWhole>(d8, taps[3] + channel, valid);
      const auto low_ab = hn::BitCast(d16, hn::InterleaveLower(d8, a, b));
      const auto low_ef = hn::BitCast(d16, hn::InterleaveLower(d8, e, f));
      const auto high_ab = hn::BitCast(d16, hn::InterleaveUpper(d8, a, b));
      const auto high_ef = hn::BitCast(d16, hn::InterleaveUpper(d8, e, f));
      const hn::Vec<decltype(d16)> words[4] = {
          hn::InterleaveLower(d16, low_ab, low_ef), hn::InterleaveUpper(d16, low_ab, low_ef),
          hn::InterleaveLower(d16, high_ab, high_ef), hn::InterleaveUpper(d16, high_ab, high_ef)};
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q, filter += kBlocks * 16) {
        sum[q] = Dots::add(d32, hn::BitCast(d8, words[q]), hn::LoadU(d8, filter), sum[q]);
      }
    }
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      const auto x = hn::Mul(hn::ConvertTo(d, sum[q]), hn::LoadU(d, scales + q * kWords));
      sum[q] = hn::Add(hn::NearestInt(hn::Max(hn::Min(x, most), least)), zero);
    }
    const auto lower = hn::ReorderDemote2To(d16, sum[0], sum[1]);
    const auto upper = hn::ReorderDemote2To(d16, sum[2], sum[3]);
    const auto bytes = hn::ReorderDemote2To(d8, lower, upper);
    int8_t* const out = p.output + i * p.channels + channel;
    if constexpr (kWhole) {
      hn::StoreU(bytes, d8, out);
    } else {
      hn::StoreN(bytes, d8, out, valid);
    }
  }
}

// Chunks of as many blocks as fit a vector, then of the largest power of two.
template <class Dots, int kBlocks>
HWY_INLINE void chunks(const DepthwisePixels& p, int64_t channel) {
  constexpr int64_t kChannels = kBlocks * kChannelBlock;
  const int64_t filled = (p.channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
  for (; channel + kChannels <= filled; channel += kChannels) {
    if (channel + kChannels <= p.channels) {
      chunk<Dots, kBlocks, true>(p, channel);
    } else {
      chunk<Dots, kBlocks, false>(p, channel);
    }
  }
  if constexpr (kBlocks > 1) {
    chunks<Dots, kBlocks / 2>(p, channel);
  }
}

template <class Dots>
void pixels_of(const DepthwisePixels& p) {
  chunks<Dots, kMaxBlocks>(p, 0);
}

const Int8DepthwiseKernels* int8_depthwise_kernels_of_target() {
  static constexpr Int8DepthwiseKernels kPlain = {kMaxBlocks, kFlips, &pixels_of<ByHighway>};
#if EXECUTORCH_ARM_DOTS
  static constexpr Int8DepthwiseKernels kSdot = {kMaxBlocks, kFlips, &pixels_of<BySdot>};
  if (arm_dots() != ArmDots::kNone) {
    return &kSdot;
  }
#endif
  return &kPlain;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(Int8DepthwiseKernels, int8_depthwise_kernels)
#endif  // HWY_ONCE
