// SPDX-License-Identifier: BSD-3-Clause
// Sizes of resizes, and which two input positions a bilinear one mixes along an axis.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace executorch::kernels {

// What an axis becomes, which is in range or not, and input positions per output position.
struct ResizedAxis {
  double size, scale;
};

// Of axis `d` of those that are resized, by the one of the two that is given. An axis whose size
// stays is not resampled, whatever its factor, as in PyTorch (12 positions by 1.05 are 12).
inline ResizedAxis resized_axis(int64_t in_size,
                                const executorch::aten::OptionalArrayRef<int64_t>& output_size,
                                const executorch::aten::OptionalArrayRef<double>& scale_factors,
                                size_t d) {
  if (scale_factors.has_value()) {
    const double factor = (*scale_factors)[d];
    const double size = std::floor(static_cast<double>(in_size) * factor);
    return {size, size == static_cast<double>(in_size) ? 1.0 : 1.0 / factor};
  }
  const auto size = static_cast<double>((*output_size)[d]);
  return {size, static_cast<double>(in_size) / size};
}

// The two neighbours of an output position and the weight of the second.
struct Neighbours {
  int64_t first;
  int64_t second;
  double weight;
};

// `scale`: input positions per output position, of no account when corners are aligned.
inline Neighbours neighbours(int64_t position, double scale, int64_t in_size, int64_t out_size,
                             bool align) {
  if (in_size == out_size) {
    return {position, position, 0.0};
  }
  double at = 0;
  if (align) {
    at = out_size > 1 ? position * (static_cast<double>(in_size - 1) / (out_size - 1)) : 0;
  } else {
    at = std::max(0.0, (position + 0.5) * scale - 0.5);
  }
  const int64_t first = std::min(static_cast<int64_t>(at), in_size - 1);
  return {first, std::min(first + 1, in_size - 1), std::min(1.0, at - first)};
}

}  // namespace executorch::kernels
