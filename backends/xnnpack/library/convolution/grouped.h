// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of groups of few channels, to as many or, of one, to more. XNNPACK multiplies a
// matrix for each group, of which a vector holds only so many columns. Here a vector holds the
// outputs of several groups: for each input of a group, that of each group in all of its lanes, by
// weights of the lanes. Terms are added in the order of XNNPACK's kernels. Compiled once for each
// instruction set: include nothing here whose inline functions others may link to.
#pragma once

#include <stddef.h>
#include <string.h>

#include <utility>

namespace executorch::backends::xnnpack {

/// Channels of a block of packed weights: their biases, then for each tap and each channel of a
/// group its weights.
constexpr size_t kGroupedBlock = 16;

/// Some positions of an output.
struct GroupedPositions {
  const float* const* inputs;        // for each output position one per tap, its first channel
  size_t taps, positions, channels;  // channels of the output
  const float* weights;
  float* output;
  size_t output_stride;
  float min, max;
};

using GroupedKernel = void(const GroupedPositions& call);

/// By inputs and outputs of a group; null where those are more than a vector has.
struct GroupedKernels {
  GroupedKernel *of1to2, *of1to4, *of2to2, *of4to4, *of8to8, *of16to16;

  GroupedKernel* of(size_t inputs, size_t outputs) const {
    if (inputs == 1) {
      return outputs == 2 ? of1to2 : outputs == 4 ? of1to4 : nullptr;
    }
    if (inputs != outputs) {
      return nullptr;
    }
    return inputs == 2    ? of2to2
           : inputs == 4  ? of4to4
           : inputs == 8  ? of8to8
           : inputs == 16 ? of16to16
                          : nullptr;
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

/// Of each group, a channel of its inputs in all lanes of its outputs.
template <size_t kInputs, size_t kOutputs, size_t kChannel, typename Vector, size_t... kLane>
inline Vector repeat_channel(Vector value, std::index_sequence<kLane...>) {
#if defined(__clang__)
  return __builtin_shufflevector(value, value, (kLane / kOutputs * kInputs + kChannel)...);
#else
  using Places = typename GroupedLanes<sizeof...(kLane)>::Places;
  return __builtin_shuffle(value,
                           Places{static_cast<int>(kLane / kOutputs * kInputs + kChannel)...});
#endif
}

/// What one tap has of a position for kLanes outputs. Of one group, each input comes from memory
/// into all lanes.
template <size_t kLanes, size_t kInputs, size_t kOutputs>
struct Tap {
  typename GroupedLanes<kLanes>::Vector value;

  void read(const float* input) {
    value = decltype(value){};
    memcpy(&value, input, kLanes / kOutputs * kInputs * sizeof(float));
  }
  template <size_t kChannel>
  auto channel() const {
    return repeat_channel<kInputs, kOutputs, kChannel>(value, std::make_index_sequence<kLanes>());
  }
};
template <size_t kLanes, size_t kInputs>
struct Tap<kLanes, kInputs, kLanes> {
  const float* from;

  void read(const float* input) { from = input; }
  template <size_t kChannel>
  auto channel() const {
    return from[kChannel] - typename GroupedLanes<kLanes>::Vector{};
  }
};

template <size_t kChannel, typename OneTap, size_t kPositions, typename Vector>
inline void add_channel(const OneTap (&taps)[kPositions], const float* weights,
                        Vector (&sums)[kPositions]) {
  Vector weight;
  memcpy(&weight, weights + kChannel * kGroupedBlock, sizeof(weight));
#pragma GCC unroll 16
  for (size_t i = 0; i < kPositions; ++i) {
    sums[i] += taps[i].template channel<kChannel>() * weight;
  }
}

template <typename OneTap, size_t kPositions, typename Vector, size_t... kChannel>
inline void add_channels(const OneTap (&taps)[kPositions], const float* weights,
                         Vector (&sums)[kPositions], std::index_sequence<kChannel...>) {
  (add_channel<kChannel>(taps, weights, sums), ...);
}

/// kLanes outputs of kPositions positions from `first` on. `block` is that of the channels' first
/// lane.
template <size_t kLanes, size_t kInputs, size_t kOutputs, size_t kPositions>
inline void add_taps(const GroupedPositions& call, size_t first, size_t channel,
                     const float* block) {
  using Lanes = GroupedLanes<kLanes>;
  using Vector = typename Lanes::Vector;
  Vector sums[kPositions];
#pragma GCC unroll 16
  for (auto& sum : sums) {
    sum = Lanes::load(block);
  }
  const float* weights = block + kGroupedBlock;
  const float* const* inputs = call.inputs + first * call.taps;
  for (size_t tap = 0; tap < call.taps; ++tap, weights += kInputs * kGroupedBlock) {
    Tap<kLanes, kInputs, kOutputs> taps[kPositions];
#pragma GCC unroll 16
    for (size_t i = 0; i < kPositions; ++i) {
      taps[i].read(inputs[i * call.taps + tap] + channel / kOutputs * kInputs);
    }
    add_channels(taps, weights, sums, std::make_index_sequence<kInputs>());
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kPositions; ++i) {
    Vector sum = sums[i];
    sum = sum < call.min ? call.min - Vector{} : sum;  // NaN is not below
    sum = sum > call.max ? call.max - Vector{} : sum;
    memcpy(call.output + (first + i) * call.output_stride + channel, &sum, sizeof(sum));
  }
}

/// All positions, by kPositions and then by half as many.
template <size_t kLanes, size_t kInputs, size_t kOutputs, size_t kPositions>
inline void add_positions(const GroupedPositions& call, size_t first, size_t channel,
                          const float* block) {
  for (; first + kPositions <= call.positions; first += kPositions) {
    add_taps<kLanes, kInputs, kOutputs, kPositions>(call, first, channel, block);
  }
  if constexpr (kPositions > 1) {
    add_positions<kLanes, kInputs, kOutputs, kPositions / 2>(call, first, channel, block);
  }
}

/// `count` channels of a block, by vectors of kLanes and then of half as many.
template <size_t kLanes, size_t kInputs, size_t kOutputs, size_t kPositions>
inline void add_block(const GroupedPositions& call, size_t channel, size_t count,
                      const float* block) {
  for (; count >= kLanes; channel += kLanes, count -= kLanes, block += kLanes) {
    add_positions<kLanes, kInputs, kOutputs, kPositions>(call, 0, channel, block);
  }
  if constexpr (kLanes > kOutputs) {
    if (count != 0) {
      add_block<kLanes / 2, kInputs, kOutputs, kPositions>(call, channel, count, block);
    }
  }
}

template <size_t kLanes, size_t kInputs, size_t kOutputs, size_t kPositions>
void compute_grouped(const GroupedPositions& call) {
  const size_t block_floats = kGroupedBlock * (1 + call.taps * kInputs);
  const float* block = call.weights;
  for (size_t channel = 0; channel < call.channels; channel += kGroupedBlock) {
    const size_t left = call.channels - channel;
    add_block<kLanes, kInputs, kOutputs, kPositions>(
        call, channel, left < kGroupedBlock ? left : kGroupedBlock, block);
    block += block_floats;
  }
}

}  // namespace

}  // namespace executorch::backends::xnnpack
