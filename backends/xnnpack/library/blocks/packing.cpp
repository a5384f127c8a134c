// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK in place of its function that orders weights of 4 bits with a scale
// per block, which does a value at a time.
#include "xnnpack/math.h"
#include "xnnpack/pack.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

extern "C" {

/// XNNPACK's own under another name (tuning.cmake), for shapes other than below.
decltype(xnn_pack_qs8_qb4w_gemm_goi_w) xnn_pack_qs8_qb4w_gemm_goi_w_any;
}

namespace {

// What a kernel reads at once of a column: `Word` is twice as many values as `kr`, of 4 bits each.
template <typename Word>
struct Pair {
  static constexpr size_t kKr = sizeof(Word);
  static constexpr Word kOnes = static_cast<Word>(0x0101010101010101);
  static constexpr Word kLowBits = static_cast<Word>(0x0F0F0F0F0F0F0F0F);

  // The values of the lower half of a word, a byte each.
  static Word spread(Word x) {
    if constexpr (sizeof(Word) == 8) {
      x = (x | (x << 16)) & static_cast<Word>(0x0000FFFF0000FFFF);
    }
    x = (x | (x << 8)) & static_cast<Word>(0x00FF00FF00FF00FF);
    return (x | (x << 4)) & kLowBits;
  }

  // The first kr values in the lower bits of bytes, the next kr in the upper ones; all without
  // their zero point of 8. `sum` is that of the values less their zero points.
  static Word pack(const uint8_t* from, int32_t* sum) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    const Word low = spread(word & (~Word{0} >> (4 * sizeof(Word))));
    const Word high = spread(word >> (4 * sizeof(Word)));
    const Word total = static_cast<Word>((low + high) * kOnes) >> (8 * (sizeof(Word) - 1));
    *sum = static_cast<int32_t>(total) - static_cast<int32_t>(16 * kKr);
    return (low | (high << 4)) ^ static_cast<Word>(kOnes * 0x88);
  }
};

struct Matrix {
  size_t columns, depth, panel, block;
  const uint8_t* values;
  const xnn_bfloat16* scales;  // [columns, depth / block]
  size_t extra_bytes_of_block, extra_bytes_of_panel;
  float input_zero_point;
};

// One panel: sums of columns (times scales, for the zero points of inputs), then words by depth and
// column, with room for scales behind each block and for more behind all.
template <typename Word>
uint8_t* pack_panel(const Matrix& m, size_t first, uint8_t* to) {
  const size_t count = std::min(m.panel, m.columns - first);
  const size_t blocks = m.depth / m.block;
  auto* const sums = reinterpret_cast<float*>(to);
  to += m.panel * sizeof(float);
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t k = 0; k < m.block; k += 2 * sizeof(Word)) {
      for (size_t i = 0; i < count; ++i) {
        const size_t column = first + i;
        int32_t sum;
        const Word word =
            Pair<Word>::pack(m.values + (column * m.depth + block * m.block + k) / 2, &sum);
        std::memcpy(to + i * sizeof(Word), &word, sizeof(word));
        const float scale = xnn_bfloat16_to_float(m.scales[column * blocks + block]);
        sums[i] -= static_cast<float>(sum) * m.input_zero_point * scale;
      }
      to += m.panel * sizeof(Word);
    }
    to += m.extra_bytes_of_block;
  }
  return to + m.extra_bytes_of_panel;
}

bool is_little_endian() {
  const uint16_t one = 1;
  return *reinterpret_cast<const uint8_t*>(&one) == 1;
}

}  // namespace

extern "C" {

/// `weights` is [groups, columns, depth], two values a byte, the lower bits first; `packed` begins
/// as zeros.
void xnn_pack_qs8_qb4w_gemm_goi_w(size_t groups, size_t columns, size_t depth, size_t panel,
                                  size_t kr, size_t sr, size_t block, const uint8_t* weights,
                                  const float* bias, const xnn_bfloat16* scale, void* packed,
                                  size_t extra_bytes_of_block, size_t extra_bytes_of_panel,
                                  const xnn_qs8_qc4w_packing_params* params) {
  const bool is_whole = depth % block == 0 && block % (2 * kr) == 0;
  if ((kr != 4 && kr != 8) || sr != 1 || groups != 1 || !is_whole || !is_little_endian()) {
    xnn_pack_qs8_qb4w_gemm_goi_w_any(groups, columns, depth, panel, kr, sr, block, weights, bias,
                                     scale, packed, extra_bytes_of_block, extra_bytes_of_panel,
                                     params);
    return;
  }
  const Matrix matrix{columns,
                      depth,
                      panel,
                      block,
                      weights,
                      scale,
                      extra_bytes_of_block,
                      extra_bytes_of_panel,
                      static_cast<float>(params->input_zero_point)};
  auto* to = static_cast<uint8_t*>(packed);
  for (size_t first = 0; first < columns; first += panel) {
    to =
        kr == 8 ? pack_panel<uint64_t>(matrix, first, to) : pack_panel<uint32_t>(matrix, first, to);
  }
}

}  // extern "C"
