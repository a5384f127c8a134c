// SPDX-License-Identifier: BSD-3-Clause
// Our matrix kernel for AVX-512 behind XNNPACK's linear layers, matmuls and
// convolutions. It reads the weights that XNNPACK packs for its own 7x32 kernel.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

struct OutputRange {
  float min;
  float max;
};

constexpr size_t kTileRows = 8;
constexpr size_t kPanel = 32;  // columns whose weights are packed together

/// c[rows, columns] = clamp(a[rows, depth] * w + bias), of 1 to kTileRows rows. Strides and `depth`
/// in bytes. `w` holds for each panel of columns (the last one padded) their biases, then their
/// weights, one step of `depth` after the other. The results of the next panel lie
/// `c_panel_stride` further. Sums are taken in order of depth, with one rounding a step.
void f32_gemm_avx512(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
                     const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                     const OutputRange* range);

/// Rows that are not one line of `a` but several, each multiplied by weights of its own: the pixels
/// that the taps of a convolution look at.
struct PixelsOfRows {
  const float* const* pixels;  // by tap, then by row
  size_t taps;
  size_t height;       // pixels of a tap, of which there may be more than rows
  size_t offset;       // bytes to add to pixels
  const float* zeros;  // but not to this one
};

/// f32_gemm_avx512() for such rows: [rows, taps, depth] times [taps, depth, columns].
void f32_igemm_avx512(size_t rows, size_t columns, size_t depth, const PixelsOfRows& a,
                      const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                      const OutputRange* range);

/// Puts the kernels in the place of XNNPACK's for AVX-512, where it chose those. Once per process,
/// after xnn_initialize() and before the first operator is made.
void replace_f32_gemm();

}  // namespace executorch::backends::xnnpack
