// SPDX-License-Identifier: BSD-3-Clause
// The transforms of F(2x2, 3x3), A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
// Networks" (CVPR 2016), algorithm 1: a tile of 4 x 4 pixels and a filter become 16 points each,
// whose products become 2 x 2 outputs. For AVX-512.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

namespace winograd {

constexpr size_t kFilter = 3;   // pixels of a filter in each direction
constexpr size_t kOutputs = 2;  // of a tile in each direction
constexpr size_t kTile = kOutputs + kFilter - 1;
constexpr size_t kPoints = kTile * kTile;
constexpr size_t kLanes = 16;  // channels come in multiples of this

/// What is added to this point is added to all outputs of its tile.
constexpr size_t kPointInAll = kTile + 1;

/// One filter [3, 3, channels] to `kPoints` rows of channels, `stride` elements from one to the
/// next.
void transform_filter(const float* filter, size_t channels, float* points, size_t stride);

/// Pixels of `channels` each, row by row, to `kPoints` rows of channels.
void transform_tile(const float* const (&pixels)[kPoints], size_t channels, float* points,
                    size_t stride);

/// `kPoints` rows of channels to pixels, each value clamped; row by row, null for one that is not
/// wanted.
void transform_product(const float* points, size_t stride, size_t channels, float min, float max,
                       float* const (&pixels)[kOutputs * kOutputs]);

}  // namespace winograd

}  // namespace executorch::backends::xnnpack
