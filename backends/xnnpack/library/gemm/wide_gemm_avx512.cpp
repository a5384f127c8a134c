// SPDX-License-Identifier: BSD-3-Clause
// One step of depth after the other.
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/gemm/sums_avx512.h>

namespace executorch::backends::xnnpack::wide {

namespace {

template <size_t kHeight, size_t kVectors>
struct Tile : Sums<kHeight, kVectors> {
  using Sums<kHeight, kVectors>::Sums;

  static size_t tap_floats(size_t depth) { return depth / sizeof(float) * kColumns; }
  static size_t tap_room(size_t depth) { return tap_floats(depth); }

  void add(const float* const (&a)[kHeight], size_t depth, const float* w) {
    for (size_t k = 0; k != depth; k += sizeof(float)) {
      __m512 weights[kVectors];
      this->load(w, weights);
      w += kColumns;
#pragma GCC unroll 8
      for (size_t row = 0; row < kHeight; ++row) {
        const __m512 value = _mm512_set1_ps(*advance(a[row], k));
#pragma GCC unroll 2
        for (size_t v = 0; v < kVectors; ++v) {
          this->sums[row][v] = _mm512_fmadd_ps(value, weights[v], this->sums[row][v]);
        }
      }
    }
  }
};

}  // namespace

template <typename Rows>
void gemm_avx512(size_t rows, const Rows& a, const Gemm& gemm) {
  Tiles<Tile>::multiply(rows, a, gemm);
}
template void gemm_avx512(size_t, const MatrixRows&, const Gemm&);
template void gemm_avx512(size_t, const IndirectRows&, const Gemm&);

}  // namespace executorch::backends::xnnpack::wide
