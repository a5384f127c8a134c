// SPDX-License-Identifier: BSD-3-Clause
// Two steps of depth at once, of values that are rounded to bfloat16 as a tile needs them.
// Compiled for AVX-512 with bf16 matmul instructions: include nothing here whose inline functions
// others may link to.
#include <executorch/backends/xnnpack/library/gemm/sums_avx512.h>

namespace executorch::backends::xnnpack::wide {

namespace {

/// Steps of depth whose values are rounded at once: 4 KiB for all rows, beside the weights in a
/// first-level cache.
constexpr size_t kRounded = 256;

/// Two values of bfloat16, the first in the lower half.
using Pair = int32_t;

/// Values behind `count` are 0.
void round_to_pairs(const float* from, size_t count, Pair* to) {
  for (size_t i = 0; i < count; i += 2 * kLanes) {
    const size_t rest = count - i;
    const uint32_t mask = rest >= 2 * kLanes ? ~uint32_t{0} : (uint32_t{1} << rest) - 1;
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from + i);
    const __m512 high =
        _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> kLanes), from + i + kLanes);
    _mm512_storeu_si512(to + i / 2, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}

template <size_t kHeight, size_t kVectors>
struct Tile : Sums<kHeight, kVectors> {
  using Sums<kHeight, kVectors>::Sums;

  static size_t tap_floats(size_t depth) { return (depth / sizeof(float) + 1) / 2 * kColumns; }
  /// XNNPACK leaves room for floats.
  static size_t tap_room(size_t depth) { return 2 * tap_floats(depth); }

  void add(const float* const (&a)[kHeight], size_t depth, const float* w) {
    alignas(64) Pair rounded[kHeight][kRounded / 2];
    const size_t steps = depth / sizeof(float);
    for (size_t first = 0; first < steps; first += kRounded) {
      const size_t count = steps - first < kRounded ? steps - first : kRounded;
      for (size_t row = 0; row < kHeight; ++row) {
        round_to_pairs(a[row] + first, count, rounded[row]);
      }
      for (size_t pair = 0; pair < (count + 1) / 2; ++pair) {
        __m512 weights[kVectors];
        this->load(w, weights);
        w += kColumns;
#pragma GCC unroll 8
        for (size_t row = 0; row < kHeight; ++row) {
          const auto values = (__m512bh)_mm512_set1_epi32(rounded[row][pair]);
#pragma GCC unroll 2
          for (size_t v = 0; v < kVectors; ++v) {
            this->sums[row][v] = _mm512_dpbf16_ps(this->sums[row][v], values, (__m512bh)weights[v]);
          }
        }
      }
    }
  }
};

}  // namespace

template <typename Rows>
void gemm_bf16(size_t rows, const Rows& a, const Gemm& gemm) {
  Tiles<Tile>::multiply(rows, a, gemm);
}
template void gemm_bf16(size_t, const MatrixRows&, const Gemm&);
template void gemm_bf16(size_t, const IndirectRows&, const Gemm&);

}  // namespace executorch::backends::xnnpack::wide
