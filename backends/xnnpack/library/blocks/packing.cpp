// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its function that orders weights of 4 bits with a scale per
// block, which does a value at a time, on one thread, and leaves the scales to another pass.
#include <executorch/backends/xnnpack/library/packing_pool.h>

#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

extern "C" {

/// XNNPACK's own under another name (tuning.cmake), for shapes and compilers other than below.
decltype(xnn_pack_qs8_qb4w_gemm_goi_w) xnn_pack_qs8_qb4w_gemm_goi_w_any;
}

namespace {

/// `values` is [columns, depth], two a byte, the lower bits first. Of `packed`, a panel is: sums of
/// columns (times scales, for the zero points of inputs), then words by depth and column with the
/// scales behind each block, and room behind all.
struct Matrix {
  size_t columns, depth, panel, block;
  const uint8_t* values;
  const xnn_bfloat16* scales;  // [columns, depth / block]
  uint8_t* packed;
  size_t bytes_of_scales;  // of a block
  size_t bytes_of_panel;
  float input_zero_point;
};

using PackPanel = void (*)(const Matrix& matrix, size_t panel);

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLES
#endif
#endif

#if defined(HAS_SHUFFLES) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

constexpr size_t kUnit = 32;      // values of a column that are ordered at a time
constexpr size_t kMaxPanel = 64;  // columns
/// Bytes by which a column's are fetched ahead: processors do not follow as many columns by
/// themselves. 0.74 of the time where the weights are in no cache.
constexpr size_t kAhead = 128;
/// Kernels multiply by values in the upper bits of bytes.
constexpr float kScaleDivisor = 16;

using Bytes = uint8_t __attribute__((vector_size(kUnit / 2)));

/// Orders kUnit values into words of kr bytes, `stride` apart: kr values in the lower bits of
/// bytes, the next kr in the upper ones, all without their zero point of 8. `sums` are those of the
/// words' values with it, kMaxPanel apart.
template <typename Word>
void pack_unit(const uint8_t* from, uint8_t* to, size_t stride, uint8_t* sums) {
  Bytes packed;
  __builtin_prefetch(from + kAhead);
  std::memcpy(&packed, from, sizeof(packed));
  const Bytes even = packed & 0x0F, odd = packed >> 4;
  // The first and the last 16 values, then the lower and the upper half of each word.
  const Bytes first = __builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19,  //
                                              4, 20, 5, 21, 6, 22, 7, 23);
  const Bytes last = __builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27,  //
                                             12, 28, 13, 29, 14, 30, 15, 31);
  Bytes low, high;
  if constexpr (sizeof(Word) == 8) {
    low = __builtin_shufflevector(first, last, 0, 1, 2, 3, 4, 5, 6, 7,  //
                                  16, 17, 18, 19, 20, 21, 22, 23);
    high = __builtin_shufflevector(first, last, 8, 9, 10, 11, 12, 13, 14, 15,  //
                                   24, 25, 26, 27, 28, 29, 30, 31);
  } else {
    low = __builtin_shufflevector(first, last, 0, 1, 2, 3, 8, 9, 10, 11,  //
                                  16, 17, 18, 19, 24, 25, 26, 27);
    high = __builtin_shufflevector(first, last, 4, 5, 6, 7, 12, 13, 14, 15,  //
                                   20, 21, 22, 23, 28, 29, 30, 31);
  }
  const Bytes both = (low | (high << 4)) ^ 0x88;
  const Bytes pairs = low + high;
  for (size_t i = 0; i < sizeof(both) / sizeof(Word); ++i) {
    Word word, sum;
    std::memcpy(&word, reinterpret_cast<const Word*>(&both) + i, sizeof(word));
    std::memcpy(&sum, reinterpret_cast<const Word*>(&pairs) + i, sizeof(sum));
    std::memcpy(to + i * stride, &word, sizeof(word));
    sum *= static_cast<Word>(0x0101010101010101);  // of all bytes, in the uppermost
    sums[i * kMaxPanel] = static_cast<uint8_t>(sum >> (8 * (sizeof(Word) - 1)));
  }
}

template <typename Word>
void pack_panel(const Matrix& m, size_t panel) {
  constexpr int32_t kZeroPoints = 8 * 2 * sizeof(Word);  // of a word
  const size_t first = panel * m.panel;
  const size_t count = std::min(m.panel, m.columns - first);
  const size_t blocks = m.depth / m.block;
  float sums[kMaxPanel] = {};
  uint8_t* const begin = m.packed + panel * m.bytes_of_panel;
  uint8_t* to = begin + m.panel * sizeof(float);
  for (size_t block = 0; block < blocks; ++block) {
    float scales[kMaxPanel];
    for (size_t i = 0; i < count; ++i) {
      scales[i] = xnn_bfloat16_to_float(m.scales[(first + i) * blocks + block]);
    }
    for (size_t k = block * m.block; k < (block + 1) * m.block; k += kUnit) {
      uint8_t totals[kUnit / 2 / sizeof(Word)][kMaxPanel];
      for (size_t i = 0; i < count; ++i) {
        pack_unit<Word>(m.values + ((first + i) * m.depth + k) / 2, to + i * sizeof(Word),
                        m.panel * sizeof(Word), &totals[0][i]);
      }
      for (const auto& total : totals) {
        for (size_t i = 0; i < count; ++i) {
          const auto sum = static_cast<float>(total[i] - kZeroPoints);
          sums[i] -= sum * m.input_zero_point * scales[i];
        }
      }
      to += m.panel * kUnit / 2;
    }
    for (size_t i = 0; i < count; ++i) {
      const uint16_t scale = math_cvt_bf16_fp32(scales[i] / kScaleDivisor);
      std::memcpy(to + i * sizeof(scale), &scale, sizeof(scale));
    }
    to += m.bytes_of_scales;
  }
  std::memcpy(begin, sums, count * sizeof(float));
}

PackPanel panel_packing(const Matrix& m, size_t kr) {
  if (m.depth % m.block != 0 || m.block % kUnit != 0 || m.panel > kMaxPanel) {
    return nullptr;
  }
  return kr == 8 ? pack_panel<uint64_t> : kr == 4 ? pack_panel<uint32_t> : nullptr;
}

#else

PackPanel panel_packing(const Matrix&, size_t) {
  return nullptr;
}

#endif

}  // namespace

extern "C" {

/// One group of whole blocks. `packed` begins as zeros.
void xnn_pack_qs8_qb4w_gemm_goi_w(size_t groups, size_t columns, size_t depth, size_t panel,
                                  size_t kr, size_t sr, size_t block, const uint8_t* weights,
                                  const float* bias, const xnn_bfloat16* scale, void* packed,
                                  size_t extra_bytes_of_block, size_t extra_bytes_of_panel,
                                  const xnn_qs8_qc4w_packing_params* params) {
  const size_t blocks = depth / block;
  const size_t bytes_of_block = panel * block / 2 + extra_bytes_of_block;
  Matrix matrix{columns,
                depth,
                panel,
                block,
                weights,
                scale,
                static_cast<uint8_t*>(packed),
                extra_bytes_of_block,
                panel * sizeof(float) + blocks * bytes_of_block + extra_bytes_of_panel,
                static_cast<float>(params->input_zero_point)};
  const PackPanel pack_panel = groups == 1 && sr == 1 ? panel_packing(matrix, kr) : nullptr;
  if (pack_panel == nullptr) {
    xnn_pack_qs8_qb4w_gemm_goi_w_any(groups, columns, depth, panel, kr, sr, block, weights, bias,
                                     scale, packed, extra_bytes_of_block, extra_bytes_of_panel,
                                     params);
    xnn_init_blockwise_scale_bf16_params(columns, panel, panel, matrix.bytes_of_panel,
                                         matrix.bytes_of_panel, blocks, bytes_of_block, 0, scale,
                                         matrix.packed + panel * (sizeof(float) + block / 2));
    return;
  }
  struct Task {
    const Matrix& matrix;
    PackPanel pack_panel;
  } task{matrix, pack_panel};
  const auto run = [](void* context, size_t place) {
    const Task& task = *static_cast<const Task*>(context);
    task.pack_panel(task.matrix, place);
  };
  pthreadpool_parallelize_1d(xnn_get_packing_pool(), run, &task, divide_round_up(columns, panel),
                             0);
}

}  // extern "C"
