// SPDX-License-Identifier: BSD-3-Clause
// The sums of a tile in registers, for tiles of up to 8 rows and 32 columns, or 16 where half of a
// panel is left. For files that are compiled for AVX-512: all of it is their own.
#pragma once

#include <executorch/backends/xnnpack/library/gemm/float_tiles.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack::wide {
namespace {

constexpr size_t kLanes = 16;
/// Rows of weights after which those are used that are fetched now: 2 KiB. Weights are read once a
/// tile, and where they come from farther than a core's own cache, the processor is too late.
constexpr size_t kAhead = 16;

template <size_t kHeight, size_t kVectors>
struct Sums {
  static constexpr size_t kRows = kHeight, kColumns = wide::kColumns;
  static constexpr size_t kComputed = kVectors * kLanes;

  explicit Sums(const float* bias) {
#pragma GCC unroll 8
    for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        sums[row][v] = _mm512_loadu_ps(bias + v * kLanes);
      }
    }
  }

  /// A row of the weights of a panel.
  static void load(const float* w, __m512 (&weights)[kVectors]) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      weights[v] = _mm512_loadu_ps(w + v * kLanes);
      const float* const ahead = w + kAhead * kColumns + v * kLanes;
      _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
    }
  }

  /// NaN stays NaN. There may be more columns than the tile has.
  void store(const Gemm& gemm) {
    const __m512 low = _mm512_set1_ps(gemm.range.min);
    const __m512 high = _mm512_set1_ps(gemm.range.max);
    const size_t columns = gemm.columns;
    const uint32_t mask = columns >= kColumns ? ~uint32_t{0} : (uint32_t{1} << columns) - 1;
    float* c = gemm.c;
#pragma GCC unroll 8
    for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        const __m512 result = _mm512_min_ps(high, _mm512_max_ps(low, sums[row][v]));
        _mm512_mask_storeu_ps(c + v * kLanes, static_cast<__mmask16>(mask >> v * kLanes), result);
      }
      c = advance(c, gemm.c_stride);
    }
  }

  __m512 sums[kRows][kVectors];
};

/// By tiles of `Tile<height, vectors>`: whole panels, and half of the last where that is enough.
template <template <size_t kHeight, size_t kVectors> class Tile>
struct Tiles {
  template <size_t kHeight>
  using Whole = Tile<kHeight, 2>;
  template <size_t kHeight>
  using Half = Tile<kHeight, 1>;

  template <typename Rows>
  static void multiply(size_t rows, const Rows& a, const Gemm& gemm) {
    compute<Whole, Half, kRows>(rows, a, gemm);
  }
};

}  // namespace
}  // namespace executorch::backends::xnnpack::wide
