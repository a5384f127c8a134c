// SPDX-License-Identifier: BSD-3-Clause
// The transforms of winograd.h, channel by channel, one set per instruction set.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kWinogradTaps = 3;     // of a filter in each direction
constexpr int64_t kWinogradOutputs = 2;  // of a tile in each direction
constexpr int64_t kWinogradTile = kWinogradOutputs + kWinogradTaps - 1;
constexpr int64_t kWinogradPoints = kWinogradTile * kWinogradTile;
// What is added to this point of a product is added to all outputs of its tile.
constexpr int64_t kWinogradPointInAll = kWinogradTile + 1;

struct WinogradKernels {
  // A filter: value (tap, channel) at filter[tap * tap_stride + channel] to points[point * stride +
  // channel].
  void (*filter)(const float* filter, int64_t tap_stride, int64_t channels, float* points,
                 int64_t stride);
  // A tile, whose positions are these steps apart, to points as above.
  void (*tile)(const float* tile, int64_t row_step, int64_t col_step, int64_t channels,
               float* points, int64_t stride);
  // The outputs of a product, row by row, kept within [min, max]; null for one that is not wanted.
  void (*product)(const float* points, int64_t stride, int64_t channels, float min, float max,
                  float* const outputs[kWinogradOutputs * kWinogradOutputs]);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const WinogradKernels& winograd_kernels();

}  // namespace executorch::kernels::optimized
