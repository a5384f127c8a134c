// SPDX-License-Identifier: BSD-3-Clause
// A tile of up to 8 rows and 32 columns stays in registers while all of its depth is added. There
// is a body for each number of rows, so that no row is computed twice, and one for half a panel.
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/kernels/gemm_rows.h>

#include <immintrin.h>

#include <cstdint>
#include <utility>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kLanes = 16;
/// Steps of depth after which weights are used that are fetched now: 2 KiB. Weights are read once
/// a tile, and where they come from farther than a core's own cache, the processor is too late.
constexpr size_t kAhead = 16;

/// What all tiles of one call have in common.
template <typename Rows>
struct Call {
  size_t columns;
  size_t depth;
  Rows a;
  const float* w;
  float* c;
  size_t c_stride;
  OutputRange range;
};

template <size_t kRows, size_t kVectors>
struct Tile {
  __m512 sums[kRows][kVectors];

  void start(const float* bias) {
#pragma GCC unroll 8
    for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        sums[row][v] = _mm512_loadu_ps(bias + v * kLanes);
      }
    }
  }

  void add(const float* const (&a)[kRows], size_t depth, const float* w) {
    for (size_t k = 0; k != depth; k += sizeof(float)) {
      __m512 weights[kVectors];
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        weights[v] = _mm512_loadu_ps(w + v * kLanes);
        _mm_prefetch(reinterpret_cast<const char*>(w + kAhead * kPanel + v * kLanes), _MM_HINT_T0);
      }
      w += kPanel;
#pragma GCC unroll 8
      for (size_t row = 0; row < kRows; ++row) {
        const __m512 value = _mm512_set1_ps(*advance(a[row], k));
#pragma GCC unroll 2
        for (size_t v = 0; v < kVectors; ++v) {
          sums[row][v] = _mm512_fmadd_ps(value, weights[v], sums[row][v]);
        }
      }
    }
  }

  /// NaN stays NaN. `columns` may be more than the tile has.
  void store(float* c, size_t c_stride, size_t columns, const OutputRange& range) {
    const __m512 low = _mm512_set1_ps(range.min);
    const __m512 high = _mm512_set1_ps(range.max);
    const uint32_t mask = columns >= kPanel ? ~uint32_t{0} : (uint32_t{1} << columns) - 1;
#pragma GCC unroll 8
    for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        const __m512 result = _mm512_min_ps(high, _mm512_max_ps(low, sums[row][v]));
        _mm512_mask_storeu_ps(c + v * kLanes, static_cast<__mmask16>(mask >> v * kLanes), result);
      }
      c = advance(c, c_stride);
    }
  }
};

template <size_t kRows, size_t kVectors, typename Rows>
void compute_tile(const Call<Rows>& call) {
  Tile<kRows, kVectors> tile;
  tile.start(call.w);
  const float* w = call.w + kPanel;
  for (size_t tap = 0; tap < call.a.taps; ++tap) {
    const float* rows[kRows];
    find_rows(call.a, tap, rows);
    if (!is_padding(call.a, rows)) {
      tile.add(rows, call.depth, w);
    }
    w = advance(w, call.depth * kPanel);
  }
  tile.store(call.c, call.c_stride, call.columns, call.range);
}

template <typename Rows>
using Compute = void (*)(const Call<Rows>&);

template <size_t kVectors, typename Rows, size_t... kLess>
Compute<Rows> tile_of(size_t rows, std::index_sequence<kLess...>) {
  static constexpr Compute<Rows> of_height[] = {compute_tile<kLess + 1, kVectors, Rows>...};
  return of_height[rows - 1];
}

template <typename Rows>
void compute(size_t rows, Call<Rows> call, size_t c_panel_stride) {
  constexpr auto heights = std::make_index_sequence<kTileRows>();
  const auto compute_panel = tile_of<2, Rows>(rows, heights);
  const size_t panel_bytes = (sizeof(float) + call.a.taps * call.depth) * kPanel;
  for (; call.columns > kLanes; call.columns -= kPanel) {
    compute_panel(call);
    if (call.columns <= kPanel) {
      return;
    }
    call.w = advance(call.w, panel_bytes);
    call.c = advance(call.c, c_panel_stride);
  }
  tile_of<1, Rows>(rows, heights)(call);
}

}  // namespace

void f32_gemm_avx512(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
                     const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                     const OutputRange* range) {
  compute(rows, Call<MatrixRows>{columns, depth, {a, a_stride}, w, c, c_stride, *range},
          c_panel_stride);
}

void f32_igemm_avx512(size_t rows, size_t columns, size_t depth, const PixelsOfRows& a,
                      const float* w, float* c, size_t c_stride, size_t c_panel_stride,
                      const OutputRange* range) {
  compute(rows, Call<PixelsOfRows>{columns, depth, a, w, c, c_stride, *range}, c_panel_stride);
}

}  // namespace executorch::backends::xnnpack
