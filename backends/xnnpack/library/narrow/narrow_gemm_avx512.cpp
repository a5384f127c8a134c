// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/kernels/gemm_rows.h>
#include <executorch/backends/xnnpack/library/narrow/narrow_gemm.h>

#include <immintrin.h>

#include <cstdint>
#include <utility>

namespace executorch::backends::xnnpack::narrow {

namespace {

constexpr size_t kBlock = kDepth * kColumns;

template <typename Rows>
struct Call {
  size_t columns;
  size_t depth;  // elements
  Rows a;
  const float* w;
  float* c;
  size_t c_stride;
  OutputRange range;
};

/// Their four totals.
__m128 totals(__m512 s0, __m512 s1, __m512 s2, __m512 s3) {
  const __m512 s01 = _mm512_add_ps(_mm512_unpacklo_ps(s0, s1), _mm512_unpackhi_ps(s0, s1));
  const __m512 s23 = _mm512_add_ps(_mm512_unpacklo_ps(s2, s3), _mm512_unpackhi_ps(s2, s3));
  const __m512 lanes = _mm512_add_ps(_mm512_shuffle_ps(s01, s23, _MM_SHUFFLE(1, 0, 1, 0)),
                                     _mm512_shuffle_ps(s01, s23, _MM_SHUFFLE(3, 2, 3, 2)));
  const __m256 half =
      _mm256_add_ps(_mm512_castps512_ps256(lanes),
                    _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(lanes), 1)));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

template <size_t kHeight>
struct Tile {
  __m512 sums[kHeight][kColumns];

  Tile() {
#pragma GCC unroll 6
    for (size_t row = 0; row < kHeight; ++row) {
#pragma GCC unroll 4
      for (size_t column = 0; column < kColumns; ++column) {
        sums[row][column] = _mm512_setzero_ps();
      }
    }
  }

  /// Lanes beyond the mask are not read.
  void add_block(const float* const (&a)[kHeight], size_t k, const float* w, __mmask16 mask) {
    __m512 weights[kColumns];
#pragma GCC unroll 4
    for (size_t column = 0; column < kColumns; ++column) {
      weights[column] = _mm512_maskz_loadu_ps(mask, w + column * kDepth);
    }
#pragma GCC unroll 6
    for (size_t row = 0; row < kHeight; ++row) {
      const __m512 values = _mm512_maskz_loadu_ps(mask, a[row] + k);
#pragma GCC unroll 4
      for (size_t column = 0; column < kColumns; ++column) {
        sums[row][column] = _mm512_fmadd_ps(values, weights[column], sums[row][column]);
      }
    }
  }

  void add(const float* const (&a)[kHeight], size_t depth, const float* w) {
    size_t k = 0;
    for (; k + kDepth <= depth; k += kDepth) {
      add_block(a, k, w, __mmask16{0xFFFF});
      w += kBlock;
    }
    if (k < depth) {
      add_block(a, k, w, static_cast<__mmask16>((1u << (depth - k)) - 1));
    }
  }

  /// NaN stays NaN. `columns` may be more than the tile has.
  void store(const float* bias, float* c, size_t c_stride, size_t columns,
             const OutputRange& range) {
    const __m128 low = _mm_set1_ps(range.min), high = _mm_set1_ps(range.max);
    const __m128 added = _mm_loadu_ps(bias);
    const size_t count = columns < kColumns ? columns : kColumns;
#pragma GCC unroll 6
    for (size_t row = 0; row < kHeight; ++row) {
      const __m128 sum =
          _mm_add_ps(added, totals(sums[row][0], sums[row][1], sums[row][2], sums[row][3]));
      alignas(16) float results[kColumns];
      _mm_store_ps(results, _mm_min_ps(high, _mm_max_ps(low, sum)));
      for (size_t column = 0; column < count; ++column) {
        c[column] = results[column];
      }
      c = advance(c, c_stride);
    }
  }
};

template <size_t kHeight, typename Rows>
void compute_tile(const Call<Rows>& call) {
  Tile<kHeight> tile;
  const float* w = call.w + kColumns;
  for (size_t tap = 0; tap < call.a.taps; ++tap) {
    const float* rows[kHeight];
    find_rows(call.a, tap, rows);
    if (!is_padding(call.a, rows)) {
      tile.add(rows, call.depth, w);
    }
    w += (call.depth + kDepth - 1) / kDepth * kBlock;
  }
  tile.store(call.w, call.c, call.c_stride, call.columns, call.range);
}

template <typename Rows, size_t... kLess>
auto* tile_of(size_t rows, std::index_sequence<kLess...>) {
  static constexpr void (*of_height[])(const Call<Rows>&) = {compute_tile<kLess + 1, Rows>...};
  return of_height[rows - 1];
}

template <typename Rows>
void compute(size_t rows, Call<Rows> call, size_t c_panel_stride) {
  auto* const compute_panel = tile_of<Rows>(rows, std::make_index_sequence<kRows>());
  const size_t panel = kColumns + call.a.taps * ((call.depth + kDepth - 1) / kDepth * kBlock);
  for (;;) {
    compute_panel(call);
    if (call.columns <= kColumns) {
      return;
    }
    call.columns -= kColumns;
    call.w += panel;
    call.c = advance(call.c, c_panel_stride);
  }
}

}  // namespace

void gemm_avx512(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
                 const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                 const OutputRange* range) {
  compute(rows,
          Call<MatrixRows>{columns, depth / sizeof(float), {a, a_stride}, w, c, c_stride, *range},
          c_panel_stride);
}

void igemm_avx512(size_t rows, size_t columns, size_t depth, const PixelsOfRows& a, const float* w,
                  float* c, size_t c_stride, size_t c_panel_stride, const OutputRange* range) {
  compute(rows, Call<PixelsOfRows>{columns, depth / sizeof(float), a, w, c, c_stride, *range},
          c_panel_stride);
}

}  // namespace executorch::backends::xnnpack::narrow
