// SPDX-License-Identifier: BSD-3-Clause
// Our matrix kernels for AVX-512 behind XNNPACK's linear layers, matmuls and convolutions of
// floats: they stand in its tables of kernels (float_tables.cpp).
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

struct OutputRange {
  float min;
  float max;
};

/// c[rows, columns] = clamp(a[rows, taps * depth] * w + bias), but for the rows of `a`. Strides and
/// `depth` in bytes. `w` holds for each panel of columns (the last one padded) their biases, then
/// their weights, one tap after the other. The results of the next panel lie `c_panel_stride`
/// further.
struct Gemm {
  size_t columns;
  size_t depth;
  const float* w;
  float* c;
  size_t c_stride;
  size_t c_panel_stride;
  OutputRange range;
};

/// The rows of a matrix: of one tap.
struct MatrixRows {
  static constexpr size_t taps = 1;
  const float* first;
  size_t stride;  // bytes
};

/// Rows that are not one line of `a` but several, each multiplied by weights of its own: the inputs
/// that the taps of a convolution look at.
struct IndirectRows {
  const float* const* pixels;  // by tap, then by row
  size_t taps;
  size_t height;       // pixels of a tap, of which there may be more than rows
  size_t offset;       // bytes to add to pixels
  const float* zeros;  // but not to this one
};

/// For weights as XNNPACK packs them for its own 7x32 kernel: of a panel and a tap, one step of
/// `depth` after the other. Sums are taken in order of depth, with one rounding a step.
namespace wide {

constexpr size_t kRows = 8;      // of a tile, at most
constexpr size_t kColumns = 32;  // of a panel

/// Of 1 to kRows rows, of a matrix or indirect.
template <typename Rows>
void gemm_avx512(size_t rows, const Rows& a, const Gemm& gemm);

/// For weights that pack_bfloat16() has packed; values of `a` are rounded alike. Products of two
/// steps of depth are added to a sum of floats at once. Values below the smallest normal number
/// are 0.
template <typename Rows>
void gemm_bf16(size_t rows, const Rows& a, const Gemm& gemm);

}  // namespace wide

/// For few columns: the last layers of networks that draw an image, heads of a few classes. Vectors
/// along the columns are mostly empty there. Here a vector lies along the depth: a sum of 16 for
/// each row and column, added up at the end.
namespace narrow {

constexpr size_t kRows = 6;     // of a tile, at most
constexpr size_t kColumns = 4;  // of a panel
constexpr size_t kDepth = 16;   // of which weights of a panel lie together, by column

template <typename Rows>
void gemm_avx512(size_t rows, const Rows& a, const Gemm& gemm);

/// Whether sums of `taps` times `depth` products take less time so than by vectors of columns.
bool suits(size_t depth, size_t taps, size_t columns);

}  // namespace narrow

}  // namespace executorch::backends::xnnpack
