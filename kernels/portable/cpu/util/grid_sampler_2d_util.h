// SPDX-License-Identifier: BSD-3-Clause
// Modes, checks and coordinates of sampling images at the points of a grid.
#pragma once

#include <cmath>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

enum class GridSamplerInterpolation { Bilinear, Nearest, Bicubic };
enum class GridSamplerPadding { Zeros, Border, Reflection };

/// From [-1, 1] to pixels: the ends are the middles of the outer pixels, or their outer edges.
template <typename scalar_t>
inline scalar_t grid_sampler_unnormalize(scalar_t coord, int64_t size, bool align_corners) {
  return align_corners ? (coord + 1) / 2 * static_cast<scalar_t>(size - 1)
                       : ((coord + 1) * static_cast<scalar_t>(size) - 1) / 2;
}

/// Into [0, size - 1]; NaN gives 0.
template <typename scalar_t>
inline scalar_t clip_coordinates(scalar_t in, int64_t clip_limit) {
  const scalar_t last = static_cast<scalar_t>(clip_limit - 1);
  return in > 0 ? (in < last ? in : last) : scalar_t(0);
}

/// Folded back at twice_low / 2 and twice_high / 2, as often as it takes.
template <typename scalar_t>
inline scalar_t reflect_coordinates(scalar_t in, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) {
    return scalar_t(0);
  }
  const scalar_t least = static_cast<scalar_t>(twice_low) / 2;
  const scalar_t span = static_cast<scalar_t>(twice_high - twice_low) / 2;
  const scalar_t distance = std::abs(in - least);
  const scalar_t extra = std::fmod(distance, span);
  const bool is_even = std::fmod(std::floor(distance / span), scalar_t(2)) == 0;
  return is_even ? extra + least : span - extra + least;
}

template <typename scalar_t>
inline scalar_t compute_coordinates(scalar_t coord, int64_t size, GridSamplerPadding padding_mode,
                                    bool align_corners) {
  switch (padding_mode) {
    case GridSamplerPadding::Border:
      return clip_coordinates(coord, size);
    case GridSamplerPadding::Reflection:
      coord = align_corners ? reflect_coordinates(coord, 0, 2 * (size - 1))
                            : reflect_coordinates(coord, -1, 2 * size - 1);
      return clip_coordinates(coord, size);
    case GridSamplerPadding::Zeros:
      break;
  }
  return coord;
}

/// The pixel position of a coordinate of the grid.
template <typename scalar_t>
inline scalar_t grid_sampler_compute_source_index(scalar_t coord, int64_t size,
                                                  GridSamplerPadding padding_mode,
                                                  bool align_corners) {
  return compute_coordinates(grid_sampler_unnormalize(coord, size, align_corners), size,
                             padding_mode, align_corners);
}

inline bool within_bounds_2d(int64_t h, int64_t w, int64_t H, int64_t W) {
  return h >= 0 && h < H && w >= 0 && w < W;
}

/// input [N, C, H, W], grid [N, H', W', 2], all of one type; gives `out` [N, C, H', W'].
ET_NODISCARD inline Error check_grid_sampler_2d_args_and_resize_out(const Tensor& input,
                                                                    const Tensor& grid,
                                                                    Tensor& out) {
  ET_CHECK_OR_RETURN_ERROR(tensors_have_same_dtype(input, grid, out) && tensor_is_rank(input, 4) &&
                               tensor_is_rank(grid, 4),
                           InvalidArgument, "expected an input and a grid of 4 dimensions");
  ET_CHECK_OR_RETURN_ERROR(input.size(0) == grid.size(0) && grid.size(3) == 2, InvalidArgument,
                           "expected a grid of %zd by 2 points, found %zd by %zd",
                           ssize_t(input.size(0)), ssize_t(grid.size(0)), ssize_t(grid.size(3)));
  ET_CHECK_OR_RETURN_ERROR(input.size(2) > 0 && input.size(3) > 0, InvalidArgument,
                           "an image of no size");
  const Tensor::SizesType sizes[] = {input.sizes()[0], input.sizes()[1], grid.sizes()[1],
                                     grid.sizes()[2]};
  return resize_tensor(out, {sizes, 4});
}

}  // namespace executor
}  // namespace torch
