// SPDX-License-Identifier: BSD-3-Clause
// Ranges of a dimension, and how one is divided.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

inline int64_t div_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
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

}  // namespace executorch::kernels::optimized
