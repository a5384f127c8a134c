// SPDX-License-Identifier: BSD-3-Clause
// Where kernels of matrices find a row. For files that are compiled for one processor: all of it
// is their own.
#pragma once

#include <executorch/backends/xnnpack/kernels/f32_gemm.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::xnnpack {
namespace {

template <typename T>
T* advance(T* at, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

/// The rows of a matrix: of one tap.
struct MatrixRows {
  static constexpr size_t taps = 1;
  const float* first;
  size_t stride;  // bytes
};

const float* row_of(const MatrixRows& a, size_t /*tap*/, size_t row) {
  return advance(a.first, row * a.stride);
}

const float* row_of(const PixelsOfRows& a, size_t tap, size_t row) {
  const float* const pixel = a.pixels[tap * a.height + row];
  return pixel == a.zeros ? pixel : advance(pixel, a.offset);
}

/// Whether all rows look at padding, which adds nothing: at the border of an image, and for most
/// taps that are dilated about as far as the image reaches.
template <size_t kRows>
bool is_padding(const MatrixRows&, const float* const (&)[kRows]) {
  return false;
}

template <size_t kRows>
bool is_padding(const PixelsOfRows& a, const float* const (&rows)[kRows]) {
  bool found = true;
  for (const float* row : rows) {
    found = found && row == a.zeros;
  }
  return found;
}

/// All rows of one tap.
template <size_t kRows, typename Rows>
void find_rows(const Rows& a, size_t tap, const float* (&rows)[kRows]) {
#pragma GCC unroll 8
  for (size_t row = 0; row < kRows; ++row) {
    rows[row] = row_of(a, tap, row);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack
