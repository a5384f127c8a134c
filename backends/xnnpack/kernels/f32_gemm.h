// SPDX-License-Identifier: BSD-3-Clause
// Our matrix kernel for AVX-512 behind XNNPACK's linear layers, products of matrices and 1x1
// convolutions. It reads the weights that XNNPACK packs for its own 7x32 kernel.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

struct OutputRange {
  float min;
  float max;
};

constexpr size_t kTileRows = 8;
constexpr size_t kPanel = 32;  // columns whose weights lie together

/// c[rows, columns] = clamp(a[rows, depth] * w + bias), of 1 to kTileRows rows. Strides and `depth`
/// in bytes. `w` holds for each panel of columns (the last one padded) their biases, then their
/// weights, one step of `depth` after the other. The results of the next panel lie
/// `c_panel_stride` further. Sums are taken in order of depth, with one rounding a step.
void f32_gemm_avx512(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
                     const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                     const OutputRange* range);

/// Puts the kernel in the place of XNNPACK's for AVX-512, where it chose that. Once per process,
/// after xnn_initialize() and before the first operator is made.
void replace_f32_gemm();

}  // namespace executorch::backends::xnnpack
