// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/gemm/float_tiles.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack::narrow {

namespace {

constexpr size_t kBlock = kDepth * kColumns;

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
  static constexpr size_t kRows = kHeight, kColumns = narrow::kColumns, kComputed = kColumns;

  static size_t tap_floats(size_t depth) {
    return (depth / sizeof(float) + kDepth - 1) / kDepth * kBlock;
  }
  static size_t tap_room(size_t depth) { return tap_floats(depth); }

  explicit Tile(const float* /*bias*/) {
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

  void add(const float* const (&a)[kHeight], size_t bytes, const float* w) {
    const size_t depth = bytes / sizeof(float);
    size_t k = 0;
    for (; k + kDepth <= depth; k += kDepth) {
      add_block(a, k, w, __mmask16{0xFFFF});
      w += kBlock;
    }
    if (k < depth) {
      add_block(a, k, w, static_cast<__mmask16>((1u << (depth - k)) - 1));
    }
  }

  /// NaN stays NaN. There may be more columns than the tile has.
  void store(const Gemm& gemm) {
    const __m128 low = _mm_set1_ps(gemm.range.min), high = _mm_set1_ps(gemm.range.max);
    const __m128 bias = _mm_loadu_ps(gemm.w);
    const size_t count = gemm.columns < kColumns ? gemm.columns : kColumns;
    float* c = gemm.c;
#pragma GCC unroll 6
    for (size_t row = 0; row < kHeight; ++row) {
      const __m128 sum =
          _mm_add_ps(bias, totals(sums[row][0], sums[row][1], sums[row][2], sums[row][3]));
      alignas(16) float results[kColumns];
      _mm_store_ps(results, _mm_min_ps(high, _mm_max_ps(low, sum)));
      for (size_t column = 0; column < count; ++column) {
        c[column] = results[column];
      }
      c = advance(c, gemm.c_stride);
    }
  }

  __m512 sums[kHeight][kColumns];
};

}  // namespace

template <typename Rows>
void gemm_avx512(size_t rows, const Rows& a, const Gemm& gemm) {
  compute<Tile, Tile, kRows>(rows, a, gemm);
}
template void gemm_avx512(size_t, const MatrixRows&, const Gemm&);
template void gemm_avx512(size_t, const IndirectRows&, const Gemm&);

}  // namespace executorch::backends::xnnpack::narrow
