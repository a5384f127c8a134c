// SPDX-License-Identifier: BSD-3-Clause
// What kernels of float_gemm.h have in common: a tile of rows and columns stays in registers while
// all of its depth is added. There is a body for each number of rows, so that no row is computed
// twice. For files that are compiled for one processor: all of it is their own.
#pragma once

#include <executorch/backends/xnnpack/library/gemm/float_gemm.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace executorch::backends::xnnpack {
namespace {

template <typename T>
T* advance(T* at, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

const float* row_of(const MatrixRows& a, size_t /*tap*/, size_t row) {
  return advance(a.first, row * a.stride);
}

const float* row_of(const IndirectRows& a, size_t tap, size_t row) {
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
bool is_padding(const IndirectRows& a, const float* const (&rows)[kRows]) {
  bool found = true;
  for (const float* row : rows) {
    found = found && row == a.zeros;
  }
  return found;
}

/// `Tile` starts with the biases of its columns, adds taps, and stores its results: of kRows rows,
/// and of kComputed columns of the kColumns that a panel has.
template <typename Tile, typename Rows>
void compute_tile(const Rows& a, const Gemm& gemm) {
  Tile tile(gemm.w);
  const float* w = gemm.w + Tile::kColumns;
  for (size_t tap = 0; tap < a.taps; ++tap) {
    const float* rows[Tile::kRows];
#pragma GCC unroll 8
    for (size_t row = 0; row < Tile::kRows; ++row) {
      rows[row] = row_of(a, tap, row);
    }
    if (!is_padding(a, rows)) {
      tile.add(rows, gemm.depth, w);
    }
    w += Tile::tap_floats(gemm.depth);
  }
  tile.store(gemm);
}

template <template <size_t kRows> class Tile, typename Rows, size_t... kLess>
auto* tile_of(size_t rows, std::index_sequence<kLess...>) {
  static constexpr void (*of_height[])(const Rows&,
                                       const Gemm&) = {compute_tile<Tile<kLess + 1>, Rows>...};
  return of_height[rows - 1];
}

/// Panel after panel, and by `Last` what is left of no more columns than that computes.
template <template <size_t kRows> class Tile, template <size_t kRows> class Last, size_t kMaxRows,
          typename Rows>
void compute(size_t rows, const Rows& a, Gemm gemm) {
  constexpr auto heights = std::make_index_sequence<kMaxRows>();
  auto* const compute_panel = tile_of<Tile, Rows>(rows, heights);
  const size_t panel = Tile<1>::kColumns + a.taps * Tile<1>::tap_room(gemm.depth);
  for (; gemm.columns > Last<1>::kComputed; gemm.columns -= Tile<1>::kColumns) {
    compute_panel(a, gemm);
    if (gemm.columns <= Tile<1>::kColumns) {
      return;
    }
    gemm.w += panel;
    gemm.c = advance(gemm.c, gemm.c_panel_stride);
  }
  tile_of<Last, Rows>(rows, heights)(a, gemm);
}

}  // namespace
}  // namespace executorch::backends::xnnpack
