// SPDX-License-Identifier: BSD-3-Clause
// Every weight is read once for up to four rows, so memory sets the pace where instructions are
// few, and those are as few as the rows are. Rows become unsigned bytes once per call, not once per
// panel. Of a byte of two weights the upper one is multiplied in place, as 16 times its value, and
// the lower one is brought there by GFNI. Nothing is fetched ahead: panels follow each other in
// large pages, where processors do that better.
#include <executorch/backends/xnnpack/library/blocks/rows_vnni.h>

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kColumns = 16;  // of a panel
/// Of the depth: eight of each column in lower halves of bytes, then eight in upper ones.
constexpr size_t kStep = 16;
constexpr size_t kStepBytes = kStep / 2 * kColumns;
/// With more, XNNPACK's kernel of eight rows is faster.
constexpr size_t kMaxRows = 4;
/// Bytes of all rows of a call.
constexpr size_t kMaxBytes = size_t{1} << 16;

/// Bytes 128 higher than the input's.
void read_row(const int8_t* from, size_t depth, uint8_t* row) {
  for (size_t k = 0; k < depth; k += sizeof(__m512i)) {
    const auto mask = depth - k < sizeof(__m512i) ? __mmask64{0xFFFFFFFF} : ~__mmask64{0};
    _mm512_store_si512(row + k, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + k),
                                                 _mm512_set1_epi8(static_cast<char>(0x80))));
  }
}

__m512i eight_bytes(const uint8_t* from) {
  int64_t word;
  std::memcpy(&word, from, sizeof(word));
  return _mm512_set1_epi64(word);
}

/// Sums of a block, times 16, for the columns of a panel.
template <size_t kRows>
void multiply_block(const uint8_t* packed, const uint8_t* rows, size_t stride, size_t depth,
                    __m512i (&totals)[kRows]) {
  const __m512i to_upper = _mm512_set1_epi64(0x01020408);
  const __m512i upper = _mm512_set1_epi8(static_cast<char>(0xF0));
  __m512i sums[kRows][2];
  for (size_t r = 0; r < kRows; ++r) {
    sums[r][0] = sums[r][1] = _mm512_setzero_si512();
  }
  for (size_t k = 0; k < depth; k += kStep) {
    __m512i weights[2], lower_weights[2], upper_weights[2];
    for (int half = 0; half < 2; ++half) {
      weights[half] = _mm512_loadu_si512(packed + half * sizeof(__m512i));
      __asm__("" : "+v"(weights[half]));  // not loaded twice: half of the loads are from two lines
      lower_weights[half] = _mm512_gf2p8affine_epi64_epi8(weights[half], to_upper, 0);
      upper_weights[half] = _mm512_and_si512(weights[half], upper);
    }
    for (size_t r = 0; r < kRows; ++r) {
      const uint8_t* const at = rows + r * stride + k;
      const __m512i first = eight_bytes(at), second = eight_bytes(at + kStep / 2);
      for (int half = 0; half < 2; ++half) {
        sums[r][half] = _mm512_dpbusd_epi32(sums[r][half], first, lower_weights[half]);
        sums[r][half] = _mm512_dpbusd_epi32(sums[r][half], second, upper_weights[half]);
      }
    }
    packed += kStepBytes;
  }
  // Each column has two sums, side by side.
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
  for (size_t r = 0; r < kRows; ++r) {
    totals[r] = _mm512_add_epi32(_mm512_permutex2var_epi32(sums[r][0], even, sums[r][1]),
                                 _mm512_permutex2var_epi32(sums[r][0], odd, sums[r][1]));
  }
}

__m512 scales_at(const uint8_t* packed) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

struct Call {
  size_t rows, columns, depth;
  const int8_t* a;
  size_t a_stride;
  const uint8_t* packed;
  float* c;
  size_t cm_stride, cn_stride;
  const xnn_f32_qb4w_minmax_params& params;
  const xnn_qd8_quantization_params* quantization;
};

template <size_t kRows>
void multiply(const Call& call) {
  const size_t block_depth = call.params.scalar.blocksize;
  const size_t stride = (call.depth + sizeof(__m512i) - 1) / sizeof(__m512i) * sizeof(__m512i);
  alignas(64) uint8_t rows[kMaxBytes];
  __m512 zero[kRows], scale[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    read_row(call.a + r * call.a_stride, call.depth, rows + r * stride);
    zero[r] = _mm512_set1_ps(static_cast<float>(call.quantization[r].zero_point) + 128);
    scale[r] = _mm512_set1_ps(call.quantization[r].inv_scale);
  }
  const __m512 lowest = _mm512_set1_ps(call.params.scalar.min);
  const __m512 highest = _mm512_set1_ps(call.params.scalar.max);
  const uint8_t* packed = call.packed;
  auto* c = reinterpret_cast<uint8_t*>(call.c);
  for (size_t left = call.columns; left != 0;) {
    __m512 totals[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      totals[r] = _mm512_mul_ps(_mm512_loadu_ps(packed), zero[r]);
    }
    packed += kColumns * sizeof(float);
    for (size_t k = 0; k < call.depth; k += block_depth) {
      __m512i sums[kRows];
      multiply_block<kRows>(packed, rows + k, stride, block_depth, sums);
      packed += block_depth / kStep * kStepBytes;
      const __m512 scales = scales_at(packed);
      for (size_t r = 0; r < kRows; ++r) {
        totals[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[r]), scales, totals[r]);
      }
      packed += kColumns * sizeof(uint16_t);
    }
    const __m512 bias = _mm512_loadu_ps(packed);
    packed += kColumns * sizeof(float);
    const size_t count = std::min(left, kColumns);
    for (size_t r = 0; r < kRows; ++r) {
      const __m512 sum = _mm512_add_ps(_mm512_mul_ps(totals[r], scale[r]), bias);
      // Of a bound and NaN these give the second operand.
      _mm512_mask_storeu_ps(c + r * call.cm_stride, static_cast<__mmask16>((1u << count) - 1),
                            _mm512_min_ps(highest, _mm512_max_ps(lowest, sum)));
    }
    c += call.cn_stride;
    left -= count;
  }
}

template <size_t... kRows>
void multiply_rows(const Call& call, std::index_sequence<kRows...>) {
  static_cast<void>(((call.rows == kRows + 1 && (multiply<kRows + 1>(call), true)) || ...));
}

bool fits(size_t rows, size_t depth) {
  return rows * (depth + sizeof(__m512i)) <= kMaxBytes;
}

}  // namespace

extern "C" {

void xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni(
    size_t rows, size_t columns, size_t depth, const int8_t* a, size_t a_stride, const void* w,
    float* c, size_t cm_stride, size_t cn_stride, const xnn_f32_qb4w_minmax_params* params,
    const xnn_qd8_quantization_params* quantization) {
  if (!fits(rows, depth)) {
    xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm(
        rows, columns, depth, a, a_stride, w, c, cm_stride, cn_stride, params, quantization);
    return;
  }
  multiply<1>({rows, columns, depth, a, a_stride, static_cast<const uint8_t*>(w), c, cm_stride,
               cn_stride, *params, quantization});
}

void xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni(
    size_t rows, size_t columns, size_t depth, const int8_t* a, size_t a_stride, const void* w,
    float* c, size_t cm_stride, size_t cn_stride, const xnn_f32_qb4w_minmax_params* params,
    const xnn_qd8_quantization_params* quantization) {
  if (rows > kMaxRows || !fits(rows, depth)) {
    xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__avx512vnni_prfm(
        rows, columns, depth, a, a_stride, w, c, cm_stride, cn_stride, params, quantization);
    return;
  }
  multiply_rows({rows, columns, depth, a, a_stride, static_cast<const uint8_t*>(w), c, cm_stride,
                 cn_stride, *params, quantization},
                std::make_index_sequence<kMaxRows>());
}

}  // extern "C"
