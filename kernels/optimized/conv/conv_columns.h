// SPDX-License-Identifier: BSD-3-Clause
// Columns of an input row that a convolution reads through one filter tap, with their padding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace executorch::kernels::optimized {

// Of `count` columns first, first + stride, ...: [begin, end) lie inside a row of `width`.
inline void clip_columns(int64_t width, int64_t first, int64_t stride, int64_t count,
                         int64_t& begin, int64_t& end) {
  const int64_t lowest = first >= 0 ? 0 : (-first + stride - 1) / stride;
  const int64_t highest = first > width - 1 ? 0 : (width - 1 - first) / stride + 1;
  begin = std::min(lowest, count);
  end = std::clamp(highest, begin, count);
}

// Copies these columns, with 0 for those outside the row.
template <typename T>
inline void copy_columns(const T* row, int64_t width, int64_t first, int64_t stride, int64_t count,
                         T* out) {
  int64_t begin, end;
  clip_columns(width, first, stride, count, begin, end);
  std::fill(out, out + begin, T{});
  if (stride == 1) {
    std::memcpy(out + begin, row + first + begin, static_cast<size_t>(end - begin) * sizeof(T));
  } else {
    for (int64_t x = begin; x < end; ++x) {
      out[x] = row[first + x * stride];
    }
  }
  std::fill(out + end, out + count, T{});
}

}  // namespace executorch::kernels::optimized
