// SPDX-License-Identifier: BSD-3-Clause
// Every weight is read once, so memory sets the pace where instructions are few. The row becomes
// unsigned bytes once per call, not once per panel. Of a byte of two weights the upper one is
// multiplied in place, as 16 times its value, and the lower one is brought there by GFNI. Nothing
// is fetched ahead: panels follow each other in large pages, where processors do that better.
#include <executorch/backends/xnnpack/library/blocks/gemv_vnni.h>

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

constexpr size_t kColumns = 16;  // of a panel
/// Of the depth: eight of each column in lower halves of bytes, then eight in upper ones.
constexpr size_t kStep = 16;
constexpr size_t kStepBytes = kStep / 2 * kColumns;
constexpr size_t kMaxDepth = size_t{1} << 15;

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
__m512i multiply_block(const uint8_t* packed, const uint8_t* row, size_t depth) {
  const __m512i to_upper = _mm512_set1_epi64(0x01020408);
  const __m512i upper = _mm512_set1_epi8(static_cast<char>(0xF0));
  __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  for (size_t k = 0; k < depth; k += kStep) {
    const __m512i first = eight_bytes(row + k), second = eight_bytes(row + k + kStep / 2);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* const at = packed + half * sizeof(__m512i);
      __m512i weights = _mm512_loadu_si512(at);
      __asm__("" : "+v"(weights));  // not loaded twice: half of the loads are from two lines
      sums[half] = _mm512_dpbusd_epi32(sums[half], first,
                                       _mm512_gf2p8affine_epi64_epi8(weights, to_upper, 0));
      sums[half] = _mm512_dpbusd_epi32(sums[half], second, _mm512_and_si512(weights, upper));
    }
    packed += kStepBytes;
  }
  // Each column has two sums, side by side.
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_permutex2var_epi32(sums[0], even, sums[1]),
                          _mm512_permutex2var_epi32(sums[0], odd, sums[1]));
}

__m512 scales_at(const uint8_t* packed) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

}  // namespace

extern "C" void xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni(
    size_t rows, size_t columns, size_t depth, const int8_t* a, size_t a_stride, const void* w,
    float* c, size_t cm_stride, size_t cn_stride, const xnn_f32_qb4w_minmax_params* params,
    const xnn_qd8_quantization_params* quantization) {
  if (depth > kMaxDepth) {
    xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm(
        rows, columns, depth, a, a_stride, w, c, cm_stride, cn_stride, params, quantization);
    return;
  }
  const size_t block_depth = params->scalar.blocksize;
  alignas(64) uint8_t row[kMaxDepth];
  read_row(a, depth, row);
  const __m512 zero = _mm512_set1_ps(static_cast<float>(quantization->zero_point) + 128);
  const __m512 scale = _mm512_set1_ps(quantization->inv_scale);
  const __m512 lowest = _mm512_set1_ps(params->scalar.min);
  const __m512 highest = _mm512_set1_ps(params->scalar.max);
  const auto* packed = static_cast<const uint8_t*>(w);
  while (columns != 0) {
    __m512 total = _mm512_mul_ps(_mm512_loadu_ps(packed), zero);
    packed += kColumns * sizeof(float);
    for (size_t block = 0; block < depth / block_depth; ++block) {
      const __m512i sums = multiply_block(packed, row + block * block_depth, block_depth);
      packed += block_depth / kStep * kStepBytes;
      total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), scales_at(packed), total);
      packed += kColumns * sizeof(uint16_t);
    }
    const __m512 sum = _mm512_add_ps(_mm512_mul_ps(total, scale), _mm512_loadu_ps(packed));
    packed += kColumns * sizeof(float);
    const size_t count = std::min(columns, kColumns);
    // Of a bound and NaN these give the second operand.
    _mm512_mask_storeu_ps(c, static_cast<__mmask16>((1u << count) - 1),
                          _mm512_min_ps(highest, _mm512_max_ps(lowest, sum)));
    c = reinterpret_cast<float*>(reinterpret_cast<uint8_t*>(c) + cn_stride);
    columns -= count;
  }
}
