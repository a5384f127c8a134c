// SPDX-License-Identifier: BSD-3-Clause
// Which two input positions a bilinear resize mixes along an axis.
#pragma once

#include <algorithm>
#include <cstdint>

namespace executorch::kernels {

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
