// SPDX-License-Identifier: BSD-3-Clause
// Float GEMMs with few columns: the last layers of networks that draw an image, heads of a few
// classes. XNNPACK's vectors lie along the columns, of which most are empty there. Here a vector
// lies along the depth: a sum of 16 for each row and column, added up at the end. For AVX-512.
#pragma once

#include <executorch/backends/xnnpack/kernels/f32_gemm.h>

#include <cstddef>

namespace executorch::backends::xnnpack::narrow {

constexpr size_t kRows = 6;     // of a tile
constexpr size_t kColumns = 4;  // whose weights lie together
constexpr size_t kDepth = 16;   // of which weights lie together, by column

/// As f32_gemm_avx512() and f32_igemm_avx512(), of 1 to kRows rows. `w` holds for each kColumns
/// their biases, then for each tap and each kDepth of depth the weights of each column.
void gemm_avx512(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
                 const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                 const OutputRange* range);
void igemm_avx512(size_t rows, size_t columns, size_t depth, const PixelsOfRows& a, const float* w,
                  float* c, size_t c_stride, size_t c_panel_stride, const OutputRange* range);

/// Whether sums of `taps` times `depth` products take less time so than by vectors of columns.
bool suits(size_t depth, size_t taps, size_t columns);

/// While it lives, convolutions that this thread creates are of this size. Without one, other GEMMs
/// of few columns are computed so.
class Size {
 public:
  Size(size_t depth, size_t taps, size_t columns);
  ~Size();
  Size(const Size&) = delete;
  Size& operator=(const Size&) = delete;
};

}  // namespace executorch::backends::xnnpack::narrow
