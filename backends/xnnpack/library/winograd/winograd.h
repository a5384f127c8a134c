// SPDX-License-Identifier: BSD-3-Clause
// The transforms of F(2x2, 3x3), A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
// Networks" (CVPR 2016), algorithm 1: a tile of 4 x 4 pixels and a filter become 16 points each,
// whose products become 2 x 2 outputs. For AVX-512.
#pragma once

#include "xnnpack.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace executorch::backends::xnnpack {

struct Filter;  // convolution/filter_rows.h

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

/// Whether a convolution is computed so, here, and an operator for it.
bool suits(const Filter& filter, float min, float max, uint32_t flags);
xnn_status create(const Filter& filter, const float* filters, const float* bias, float min,
                  float max, uint32_t flags, xnn_weights_cache_t weights_cache,
                  xnn_operator_t* out);

/// Whether an operator is one of these.
bool is_one(const xnn_operator& op);
/// The elements that a part of its work writes: how many from which on, in the order of memory.
void for_each_run(const xnn_operator& op, size_t part,
                  const std::function<void(size_t first, size_t elements)>& use);

}  // namespace winograd

}  // namespace executorch::backends::xnnpack
