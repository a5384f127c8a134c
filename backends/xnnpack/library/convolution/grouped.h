// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of groups of 2, 4, 8 or 16 channels to as many. XNNPACK multiplies a matrix for each
// group, of which a vector holds only so many columns. Here a vector holds the channels of several
// groups: for each channel of a group, that of each group in all of its lanes, by weights of the
// lanes. Terms are added in the order of XNNPACK's kernels. Compiled once for each instruction set:
// include nothing here whose inline functions others may link to.
#pragma once

#include <stddef.h>
#include <string.h>

namespace executorch::backends::xnnpack {

/// Channels of a block of packed weights: their biases, then for each tap and each channel of a
/// group its weights.
constexpr size_t kGroupedBlock = 16;

/// Some pixels of an output.
struct GroupedPixels {
  const float* const* inputs;  // for each output pixel one per tap, its first channel
  size_t taps, pixels, channels;
  const float* weights;
  float* output;
  size_t output_stride;
  float min, max;
};

using GroupedKernel = void(const GroupedPixels& call);

/// Null for groups that are wider than a vector.
struct GroupedKernels {
  GroupedKernel *of2, *of4, *of8, *of16;

  GroupedKernel* of(size_t width) const {
    return width == 2 ? of2 : width == 4 ? of4 : width == 8 ? of8 : width == 16 ? of16 : nullptr;
  }
};
extern const GroupedKernels kGroupedAny, kGroupedAvx2, kGroupedAvx512;

namespace {

template <size_t kLanes>
struct GroupedLanes {
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
  typedef int Places __attribute__((vector_size(kLanes * sizeof(int))));

  static inline Vector load(const float* from) {
    Vector value;
    memcpy(&value, from, sizeof(value));
    return value;
  }
};

template <size_t... kValues>
struct Numbers {};
template <size_t kCount, size_t... kValues>
struct Count : Count<kCount - 1, kCount - 1, kValues...> {};
template <size_t... kValues>
struct Count<0, kValues...> {
  using Are = Numbers<kValues...>;
};

/// Of each group, channel kChannel in all lanes.
template <size_t kGroup, size_t kChannel, typename Vector, size_t... kLane>
inline Vector repeat_channel(Vector value, Numbers<kLane...>) {
#if defined(__clang__)
  return __builtin_shufflevector(value, value, (kLane / kGroup * kGroup + kChannel)...);
#else
  using Places = typename GroupedLanes<sizeof...(kLane)>::Places;
  return __builtin_shuffle(value, Places{static_cast<int>(kLane / kGroup * kGroup + kChannel)...});
#endif
}

/// What one tap has of kLanes channels of a pixel. Of one group, each channel comes from memory
/// into all lanes.
template <size_t kLanes, size_t kGroup>
struct Tap {
  typename GroupedLanes<kLanes>::Vector value;

  void read(const float* pixel) { value = GroupedLanes<kLanes>::load(pixel); }
  template <size_t kChannel>
  auto channel() const {
    return repeat_channel<kGroup, kChannel>(value, typename Count<kLanes>::Are());
  }
};
template <size_t kLanes>
struct Tap<kLanes, kLanes> {
  const float* from;

  void read(const float* pixel) { from = pixel; }
  template <size_t kChannel>
  auto channel() const {
    return from[kChannel] - typename GroupedLanes<kLanes>::Vector{};
  }
};

template <size_t kChannel, size_t kLanes, size_t kGroup, size_t kPixels, typename Vector>
inline void add_channel(const Tap<kLanes, kGroup> (&taps)[kPixels], const float* weights,
                        Vector (&sums)[kPixels]) {
  const Vector weight = GroupedLanes<kLanes>::load(weights + kChannel * kGroupedBlock);
#pragma GCC unroll 16
  for (size_t i = 0; i < kPixels; ++i) {
    sums[i] += taps[i].template channel<kChannel>() * weight;
  }
}

template <size_t kLanes, size_t kGroup, size_t kPixels, typename Vector, size_t... kChannel>
inline void add_channels(const Tap<kLanes, kGroup> (&taps)[kPixels], const float* weights,
                         Vector (&sums)[kPixels], Numbers<kChannel...>) {
  (add_channel<kChannel>(taps, weights, sums), ...);
}

/// kLanes channels of kPixels pixels from `first` on. `block` is that of the channels' first lane.
template <size_t kLanes, size_t kGroup, size_t kPixels>
inline void add_taps(const GroupedPixels& call, size_t first, size_t channel, const float* block) {
  using Lanes = GroupedLanes<kLanes>;
  using Vector = typename Lanes::Vector;
  Vector sums[kPixels];
#pragma GCC unroll 16
  for (auto& sum : sums) {
    sum = Lanes::load(block);
  }
  const float* weights = block + kGroupedBlock;
  const float* const* inputs = call.inputs + first * call.taps;
  for (size_t tap = 0; tap < call.taps; ++tap, weights += kGroup * kGroupedBlock) {
    Tap<kLanes, kGroup> taps[kPixels];
#pragma GCC unroll 16
    for (size_t i = 0; i < kPixels; ++i) {
      taps[i].read(inputs[i * call.taps + tap] + channel);
    }
    add_channels(taps, weights, sums, typename Count<kGroup>::Are());
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kPixels; ++i) {
    Vector sum = sums[i];
    sum = sum < call.min ? call.min - Vector{} : sum;  // NaN is not below
    sum = sum > call.max ? call.max - Vector{} : sum;
    memcpy(call.output + (first + i) * call.output_stride + channel, &sum, sizeof(sum));
  }
}

/// All pixels, by kPixels and then by half as many.
template <size_t kLanes, size_t kGroup, size_t kPixels>
inline void add_pixels(const GroupedPixels& call, size_t first, size_t channel,
                       const float* block) {
  for (; first + kPixels <= call.pixels; first += kPixels) {
    add_taps<kLanes, kGroup, kPixels>(call, first, channel, block);
  }
  if constexpr (kPixels > 1) {
    add_pixels<kLanes, kGroup, kPixels / 2>(call, first, channel, block);
  }
}

/// `count` channels of a block, by vectors of kLanes and then of half as many.
template <size_t kLanes, size_t kGroup, size_t kPixels>
inline void add_block(const GroupedPixels& call, size_t channel, size_t count, const float* block) {
  for (; count >= kLanes; channel += kLanes, count -= kLanes, block += kLanes) {
    add_pixels<kLanes, kGroup, kPixels>(call, 0, channel, block);
  }
  if constexpr (kLanes > kGroup) {
    if (count != 0) {
      add_block<kLanes / 2, kGroup, kPixels>(call, channel, count, block);
    }
  }
}

template <size_t kLanes, size_t kGroup, size_t kPixels>
void compute_grouped(const GroupedPixels& call) {
  const size_t block_floats = kGroupedBlock * (1 + call.taps * kGroup);
  const float* block = call.weights;
  for (size_t channel = 0; channel < call.channels; channel += kGroupedBlock) {
    const size_t left = call.channels - channel;
    add_block<kLanes, kGroup, kPixels>(call, channel, left < kGroupedBlock ? left : kGroupedBlock,
                                       block);
    block += block_floats;
  }
}

}  // namespace

}  // namespace executorch::backends::xnnpack
