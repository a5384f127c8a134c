// SPDX-License-Identifier: BSD-3-Clause
// Weights of 16 columns become bytes in a buffer, as much of the depth as it holds, and are read
// from there by the tiles of all rows: tiles wait for memory that was written just before. Sums of
// a block become floats while the next block is multiplied.
#include <executorch/backends/xnnpack/library/blocks/gemm_amx.h>

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr size_t kRows = 16, kColumns = 16;  // of a tile
constexpr size_t kTiles = 2;                 // of rows
constexpr size_t kMaxStep = 64;              // bytes in a row of a tile
constexpr size_t kBuffer = 1024;             // bytes of a column
constexpr size_t kMinBlock = 32;

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

// Sums of the tiles of rows, for two blocks each: 0 to 3; inputs: 4 and 5; weights of two blocks: 6
// and 7.
void set_shapes(size_t rows, size_t step) {
  TileShapes shapes;
  for (size_t tile = 0; tile < kTiles && tile * kRows < rows; ++tile) {
    const auto count = static_cast<uint8_t>(std::min(rows - tile * kRows, kRows));
    for (const size_t sums : {2 * tile, 2 * tile + 1}) {
      shapes.bytes[sums] = kColumns * sizeof(int32_t);
      shapes.rows[sums] = count;
    }
    shapes.bytes[4 + tile] = static_cast<uint16_t>(step);
    shapes.rows[4 + tile] = count;
  }
  for (const int weights : {6, 7}) {
    shapes.bytes[weights] = kColumns * 4;
    shapes.rows[weights] = static_cast<uint8_t>(step / 4);
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
}

// Instructions on tiles: a compiler's intrinsics want literals for them, no parameters of
// templates, and those of GCC before 13 do not say that they read memory.
template <int tile>
void clear() {
  __asm__ volatile("tilezero %%tmm%c0" ::"i"(tile));
}

template <int tile>
void load(const void* from, size_t stride) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(tile) : "memory");
}

template <int tile>
void store(void* to, size_t stride) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(tile) : "memory");
}

// sums += a * b, signed bytes
template <int sums, int a, int b>
void add_products() {
  __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}

struct alignas(64) Buffer {
  int8_t weights[kBuffer / 4][kColumns * 4];  // four of a column side by side
  __m512i offsets[kBuffer / kMinBlock];       // of a block's sums, for inputs that are 128 more
  int32_t sums[2][kRows][kColumns];
};

struct Problem {
  const int8_t* a;
  size_t rows, a_stride, block_depth, step;

  size_t bytes_of_weights() const { return block_depth / 2 * kColumns; }
  size_t bytes_of_block() const { return bytes_of_weights() + kColumns * sizeof(uint16_t); }
};

// 16 of the depth of all columns: 128 bytes at `packed`, as bytes that are 16 times the weights.
void unpack(const uint8_t* packed, int8_t (*weights)[kColumns * 4], __m512i& offsets) {
  const __m512i high = _mm512_set1_epi8(static_cast<char>(0xF0));
  const __m512i bias = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
  const __m512i left = _mm512_loadu_si512(packed), right = _mm512_loadu_si512(packed + 64);
  const __m512i parts[2][2] = {
      {_mm512_and_si512(_mm512_slli_epi32(left, 4), high),
       _mm512_and_si512(_mm512_slli_epi32(right, 4), high)},
      {_mm512_and_si512(left, high), _mm512_and_si512(right, high)},
  };
  for (int half = 0; half < 2; ++half) {
    const __m512i first = _mm512_permutex2var_epi32(parts[half][0], even, parts[half][1]);
    const __m512i second = _mm512_permutex2var_epi32(parts[half][0], odd, parts[half][1]);
    _mm512_store_si512(weights[2 * half], first);
    _mm512_store_si512(weights[2 * half + 1], second);
    offsets = _mm512_dpbusd_epi32(offsets, bias, first);
    offsets = _mm512_dpbusd_epi32(offsets, bias, second);
  }
}

void unpack_blocks(const Problem& p, const uint8_t* packed, size_t count, Buffer& buffer) {
  auto* weights = buffer.weights;
  for (size_t block = 0; block < count; ++block) {
    __m512i offsets = _mm512_setzero_si512();
    for (size_t k = 0; k < p.block_depth; k += 16) {
      unpack(packed + k / 2 * kColumns, weights, offsets);
      weights += 4;
    }
    buffer.offsets[block] = offsets;
    packed += p.bytes_of_block();
  }
}

// The sums of a block, for one tile of rows at `a`.
template <int tile, int parity>
void multiply(const Problem& p, const int8_t* a, size_t block, Buffer& buffer) {
  constexpr int kSums = 2 * tile + parity;
  clear<kSums>();
  for (size_t k = block * p.block_depth; k < (block + 1) * p.block_depth; k += p.step) {
    load<4 + tile>(a + k, p.a_stride);
    load<6 + parity>(buffer.weights[k / 4], sizeof(buffer.weights[0]));
    add_products<kSums, 4 + tile, 6 + parity>();
  }
  store<kSums>(buffer.sums[parity], sizeof(buffer.sums[0][0]));
}

// All blocks of the buffer, each added while the next is multiplied.
template <int tile>
void add_blocks(const Problem& p, const int8_t* a, const uint8_t* packed, size_t count,
                Buffer& buffer, __m512* all_totals) {
  __m512 totals[kRows];
  std::copy_n(all_totals, kRows, totals);
  for (size_t i = 0; i <= count; ++i) {
    if (i < count) {
      i % 2 == 0 ? multiply<tile, 0>(p, a, i, buffer) : multiply<tile, 1>(p, a, i, buffer);
    }
    if (i == 0) {
      continue;
    }
    const uint8_t* const scales_at = packed + (i - 1) * p.bytes_of_block() + p.bytes_of_weights();
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales_at));
    const __m512 scales = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
    const auto& sums = buffer.sums[(i - 1) % 2];
    for (size_t row = 0; row < kRows; ++row) {
      const __m512i sum = _mm512_add_epi32(_mm512_load_si512(sums[row]), buffer.offsets[i - 1]);
      totals[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scales, totals[row]);
    }
  }
  std::copy_n(totals, kRows, all_totals);
}

// A panel of columns; gives the address behind its last block.
const uint8_t* add_panel(const Problem& p, size_t depth, const uint8_t* packed, Buffer& buffer,
                         __m512* totals) {
  const size_t blocks = depth / p.block_depth, most = kBuffer / p.block_depth;
  for (size_t first = 0; first < blocks; first += most) {
    const size_t count = std::min(most, blocks - first);
    unpack_blocks(p, packed, count, buffer);
    const int8_t* const a = p.a + first * p.block_depth;
    add_blocks<0>(p, a, packed, count, buffer, totals);
    if (p.rows > kRows) {
      add_blocks<1>(p, a + kRows * p.a_stride, packed, count, buffer, totals + kRows);
    }
    packed += count * p.bytes_of_block();
  }
  return packed;
}

}  // namespace

extern "C" void xnn_qd8_f32_qb4w_gemm_minmax_ukernel_32x16c8__amx(
    size_t rows, size_t columns, size_t depth, const int8_t* a, size_t a_stride, const void* w,
    float* c, size_t cm_stride, size_t cn_stride, const xnn_f32_qb4w_minmax_params* params,
    const xnn_qd8_quantization_params* quantization) {
  const size_t block_depth = params->scalar.blocksize;
  if (block_depth > kBuffer) {
    for (size_t row = 0; row < rows; ++row) {
      xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm(
          1, columns, depth, a + row * a_stride, a_stride, w, c + row * (cm_stride / sizeof(float)),
          cm_stride, cn_stride, params, quantization + row);
    }
    return;
  }
  const size_t step = block_depth % kMaxStep == 0 ? kMaxStep : kMinBlock;
  set_shapes(rows, step);
  const Problem problem{a, rows, a_stride, block_depth, step};
  Buffer buffer;
  std::fill_n(&buffer.sums[0][0][0], 2 * kRows * kColumns, 0);  // rows that there are not
  const __m512 lowest = _mm512_set1_ps(params->scalar.min);
  const __m512 highest = _mm512_set1_ps(params->scalar.max);
  const auto* packed = static_cast<const uint8_t*>(w);
  while (columns != 0) {
    const __m512 column_sums = _mm512_loadu_ps(packed);
    __m512 totals[kTiles * kRows];
    for (size_t row = 0; row < kTiles * kRows; ++row) {
      const auto zero = static_cast<float>(quantization[std::min(row, rows - 1)].zero_point);
      totals[row] = _mm512_mul_ps(column_sums, _mm512_set1_ps(zero + 128));
    }
    packed = add_panel(problem, depth, packed + kColumns * sizeof(float), buffer, totals);
    const __m512 bias = _mm512_loadu_ps(packed);
    packed += kColumns * sizeof(float);
    const size_t count = std::min(columns, kColumns);
    const auto mask = static_cast<__mmask16>((1u << count) - 1);
    for (size_t row = 0; row < rows; ++row) {
      const __m512 scale = _mm512_set1_ps(quantization[row].inv_scale);
      const __m512 sum = _mm512_add_ps(_mm512_mul_ps(totals[row], scale), bias);
      auto* out = reinterpret_cast<uint8_t*>(c) + row * cm_stride;
      // Of a bound and NaN these give the second operand.
      _mm512_mask_storeu_ps(out, mask, _mm512_min_ps(highest, _mm512_max_ps(lowest, sum)));
    }
    c = reinterpret_cast<float*>(reinterpret_cast<uint8_t*>(c) + cn_stride);
    columns -= count;
  }
  __asm__ volatile("tilerelease");
}
