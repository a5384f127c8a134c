// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of bytes of more taps than XNNPACK has kernels for, 25: it computes them
// as grouped matmuls of one column, of which a vector leaves all lanes but one unused. Compiled
// once for each instruction set: include nothing here whose inline functions others may link to.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace executorch::backends::xnnpack {

/// Channels of a block of packed weights: their biases, then their weights, tap after tap, then
/// their scales.
constexpr size_t kDepthwiseBlock = 16;
constexpr size_t kMaxDepthwiseTaps = 255;  // XNNPACK counts them in a byte

/// A row of outputs: the arguments of XNNPACK's kernels, and the number of taps.
struct DepthwiseLine {
  size_t taps, channels, outputs;
  const void* const* input;  // for each output, `input_stride` bytes apart, a pixel per tap
  const void* weights;
  void* output;  // `output_increment` bytes between the pixels
  intptr_t input_stride;
  size_t output_increment, input_offset;
  const void* zero;  // the one pixel that `input_offset` is not added to
  float min, max;    // before the zero point is added
  int32_t zero_point;
};

using DepthwiseKernel = void(const DepthwiseLine& line);
extern DepthwiseKernel* const kDepthwiseAvx2;
extern DepthwiseKernel* const kDepthwiseAvx512;

namespace {

template <typename T, size_t kLanes>
struct Lanes {
  typedef T Vector __attribute__((vector_size(kLanes * sizeof(T))));

  static inline Vector load(const void* from) {
    Vector value;
    memcpy(&value, from, sizeof(value));
    return value;
  }
};

template <size_t kLanes>
inline auto multiply(const void* pixel, const void* weights) {
  using Shorts = typename Lanes<int16_t, kLanes>::Vector;
  using Ints = typename Lanes<int32_t, kLanes>::Vector;
  const auto x = __builtin_convertvector(Lanes<int8_t, kLanes>::load(pixel), Shorts);
  const auto w = __builtin_convertvector(Lanes<int8_t, kLanes>::load(weights), Shorts);
  return __builtin_convertvector(x * w, Ints);
}

/// Scaled, and rounded to the nearest integer, ties to even: a float of 1.5 * 2^23 and more has no
/// bits for fractions.
template <size_t kLanes, typename Sums>
inline void store(Sums sums, const void* scales, const DepthwiseLine& line, void* to) {
  using Scaled = typename Lanes<float, kLanes>::Vector;
  constexpr float kMagic = 12582912.0f;
  constexpr int32_t kMagicBits = 0x4B400000;
  auto scaled = __builtin_convertvector(sums, Scaled) * Lanes<float, kLanes>::load(scales);
  scaled = scaled < line.min ? line.min - Scaled{} : scaled;
  scaled = scaled > line.max ? line.max - Scaled{} : scaled;
  scaled += kMagic;
  Sums rounded;
  memcpy(&rounded, &scaled, sizeof(rounded));
  const auto bytes = __builtin_convertvector(rounded - (kMagicBits - line.zero_point),
                                             typename Lanes<int8_t, kLanes>::Vector);
  memcpy(to, &bytes, sizeof(bytes));
}

inline const uint8_t* bytes_at(const void* base, size_t offset) {
  return static_cast<const uint8_t*>(base) + offset;
}

/// kLanes channels of kOutputs pixels. `weights` and `scales` are those of the block's lane;
/// `pixels` are [kOutputs, taps].
template <size_t kLanes, size_t kOutputs>
inline void add_taps(const DepthwiseLine& line, const void* const* pixels, size_t channel,
                     const uint8_t* block, void* const* outputs) {
  const size_t lane = channel % kDepthwiseBlock;
  const uint8_t* weights = block + kDepthwiseBlock * sizeof(int32_t) + lane;
  typename Lanes<int32_t, kLanes>::Vector sums[kOutputs];
  for (auto& sum : sums) {
    sum = Lanes<int32_t, kLanes>::load(block + lane * sizeof(int32_t));
  }
  for (size_t tap = 0; tap < line.taps; ++tap, weights += kDepthwiseBlock) {
    for (size_t i = 0; i < kOutputs; ++i) {
      const void* const pixel = pixels[i * line.taps + tap];
      sums[i] += multiply<kLanes>(bytes_at(pixel, channel), weights);
    }
  }
  const void* const scales = weights + lane * (sizeof(float) - 1);
  for (size_t i = 0; i < kOutputs; ++i) {
    store<kLanes>(sums[i], scales, line, static_cast<uint8_t*>(outputs[i]) + channel);
  }
}

/// `count` channels of a block, by vectors of kLanes and then of half as many.
template <size_t kLanes, size_t kOutputs>
inline void add_taps_of_block(const DepthwiseLine& line, const void* const* pixels, size_t channel,
                              size_t count, const uint8_t* block, void* const* outputs) {
  if (count >= kLanes) {
    add_taps<kLanes, kOutputs>(line, pixels, channel, block, outputs);
    channel += kLanes;
    count -= kLanes;
  }
  if constexpr (kLanes > 1) {
    if (count != 0) {
      add_taps_of_block<kLanes / 2, kOutputs>(line, pixels, channel, count, block, outputs);
    }
  }
}

template <size_t kOutputs>
void compute_depthwise(const DepthwiseLine& line) {
  const size_t block_bytes = kDepthwiseBlock * (sizeof(int32_t) + line.taps + sizeof(float));
  const size_t pixel_bytes = line.channels + line.output_increment;
  const void* pixels[kOutputs * kMaxDepthwiseTaps];
  for (size_t first = 0; first < line.outputs; first += kOutputs) {
    void* outputs[kOutputs];
    for (size_t i = 0; i < kOutputs; ++i) {  // the last output once more where there are fewer
      const size_t output = first + i < line.outputs ? first + i : line.outputs - 1;
      outputs[i] = static_cast<uint8_t*>(line.output) + output * pixel_bytes;
      const auto* const input = reinterpret_cast<const void* const*>(
          bytes_at(line.input, output * static_cast<size_t>(line.input_stride)));
      for (size_t tap = 0; tap < line.taps; ++tap) {
        const bool is_zero = input[tap] == line.zero;
        pixels[i * line.taps + tap] = bytes_at(input[tap], is_zero ? 0 : line.input_offset);
      }
    }
    const auto* block = static_cast<const uint8_t*>(line.weights);
    for (size_t channel = 0; channel < line.channels; channel += kDepthwiseBlock) {
      const size_t left = line.channels - channel;
      add_taps_of_block<kDepthwiseBlock, kOutputs>(
          line, pixels, channel, left < kDepthwiseBlock ? left : kDepthwiseBlock, block, outputs);
      block += block_bytes;
    }
  }
}

}  // namespace

}  // namespace executorch::backends::xnnpack
