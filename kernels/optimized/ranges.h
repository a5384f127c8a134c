// SPDX-License-Identifier: BSD-3-Clause
// Ranges of a dimension, and how one is divided.
#pragma once

#include <algorithm>
#include <cstdint>

namespace executorch::kernels::optimized {

inline int64_t div_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// To a multiple of `step`.
inline int64_t round_up(int64_t value, int64_t step) {
  return div_up(value, step) * step;
}

// [begin, end)
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Of `parts` parts of `size`, which differ by one at most.
inline Range part_of(int64_t size, int64_t parts, int64_t index) {
  return {size * index / parts, size * (index + 1) / parts};
}

// Of a filter's taps, `dilation` apart from position `first` on, those that lie in [0, size).
inline Range taps_inside(int64_t first, int64_t dilation, int64_t taps, int64_t size) {
  const auto before = [&](int64_t position) {  // taps that lie before it
    return position <= first ? 0 : std::min(div_up(position - first, dilation), taps);
  };
  const int64_t begin = before(0);
  return {begin, std::max(begin, before(size))};
}

}  // namespace executorch::kernels::optimized
