// SPDX-License-Identifier: BSD-3-Clause
// The filter of bilinear resizing along one axis, with and without antialiasing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace executorch {
namespace kernels {

// How one axis of an image is resized.
struct Axis {
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1;       // input pixels per output pixel
  bool antialias = true;  // the filter widens when shrinking
  bool align = false;     // without antialias: the centers of corner pixels stay where they are
};

// The weights of the input pixels that make one output pixel: a triangle around its center.
struct Triangle {
  int64_t first;
  int64_t count;
  double center;
  double offset;  // of a pixel's position from its number
  double slope;
  double total;

  double weight(int64_t i) const {
    return std::max(0.0, 1 - std::fabs((static_cast<double>(first + i) - center + offset) * slope));
  }
};

inline Triangle triangle(const Axis& axis, int64_t position) {
  const double offset = axis.align && !axis.antialias ? 0.0 : 0.5;
  const double support = axis.antialias ? std::max(1.0, axis.scale) : 1.0;
  const double center = axis.scale * (static_cast<double>(position) + offset);
  const double start = center + 1 - offset;
  Triangle filter{0, 0, center, offset, 1 / support, 0};
  if (axis.scale == 1 && axis.in == axis.out) {
    filter.first = position;
    filter.count = 1;
  } else {
    filter.first = std::max<int64_t>(static_cast<int64_t>(start - support), 0);
    const int64_t end = std::min(static_cast<int64_t>(start + support), axis.in);
    filter.first = std::min(filter.first, axis.in - 1);
    filter.count = std::max<int64_t>(end - filter.first, 1);
  }
  for (int64_t i = 0; i < filter.count; ++i) {
    filter.total += filter.weight(i);
  }
  return filter;
}

}  // namespace kernels
}  // namespace executorch
