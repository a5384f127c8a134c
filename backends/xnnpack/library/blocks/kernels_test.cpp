// SPDX-License-Identifier: BSD-3-Clause
// Our kernels for rows and for tiles beside XNNPACK's for vectors, over drawn sizes: the same bits.
#include <executorch/backends/xnnpack/library/blocks/rows_vnni.h>

#if defined(EXECUTORCH_XNNPACK_AMX)
#include <executorch/backends/xnnpack/library/blocks/gemm_amx.h>
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/microparams.h"
#include "xnnpack/pack.h"

namespace {

constexpr size_t kColumns = 16;  // of a panel

struct Problem {
  size_t rows, columns, depth, block;
  float lowest;
};

struct alignas(64) Line {
  uint8_t bytes[64];
};

class Operands {
 public:
  explicit Operands(const Problem& p)
      : random_(static_cast<uint32_t>(p.rows * 7919 + p.columns * 101 + p.depth)),
        inputs(p.rows * stride(p)),
        quantization(p.rows + kColumns) {
    for (int8_t& each : inputs) {
      each = static_cast<int8_t>(random_());
    }
    for (auto& each : quantization) {
      each.zero_point = static_cast<int32_t>(random_() % 256) - 128;
      each.inv_scale = static_cast<float>(random_() % 100 + 1) / 900.0f;
    }
    quantization[random_() % p.rows].inv_scale = std::numeric_limits<float>::quiet_NaN();
    // XNNPACK computes the last row again in the rest of a tile, by parameters that the operator
    // repeats.
    std::fill(quantization.begin() + static_cast<std::ptrdiff_t>(p.rows), quantization.end(),
              quantization[p.rows - 1]);
    std::vector<uint8_t> weights(p.columns * p.depth / 2);
    for (uint8_t& each : weights) {
      each = static_cast<uint8_t>(random_());
    }
    const size_t blocks = p.depth / p.block;
    std::vector<xnn_bfloat16> scales(p.columns * blocks);
    for (xnn_bfloat16& each : scales) {
      each = xnn_bfloat16_from_float(static_cast<float>(random_() % 1000 + 1) / 7000.0f);
    }
    const size_t of_panel =
        kColumns * (2 * sizeof(float) + p.depth / 2 + blocks * sizeof(xnn_bfloat16));
    const size_t panels = (p.columns + kColumns - 1) / kColumns;
    packed.resize(panels * of_panel / sizeof(Line) + 1, Line{});
    const xnn_qs8_qc4w_packing_params packing{/*input_zero_point=*/1, /*kernel_zero_point=*/8};
    xnn_pack_qs8_qb4w_gemm_goi_w(
        1, p.columns, p.depth, kColumns, 8, 1, p.block, weights.data(), nullptr, scales.data(),
        packed.data(), kColumns * sizeof(xnn_bfloat16), kColumns * sizeof(float), &packing);
    fill(p, scales, of_panel);
  }

  static size_t stride(const Problem& p) { return p.depth + 3; }

 private:
  // What the operator writes behind packing: scales of blocks, and biases.
  void fill(const Problem& p, const std::vector<xnn_bfloat16>& scales, size_t of_panel) {
    const size_t blocks = p.depth / p.block;
    uint8_t* const bytes = packed[0].bytes;
    for (size_t column = 0; column < p.columns; ++column) {
      uint8_t* const panel = bytes + column / kColumns * of_panel;
      const size_t of_block = kColumns * (p.block / 2 + sizeof(xnn_bfloat16));
      for (size_t i = 0; i < blocks; ++i) {
        uint8_t* const to = panel + kColumns * sizeof(float) + (i + 1) * of_block -
                            (kColumns - column % kColumns) * sizeof(xnn_bfloat16);
        std::memcpy(to, &scales[column * blocks + i], sizeof(xnn_bfloat16));
      }
      const float bias = static_cast<float>(random_() % 100) / 10.0f;
      std::memcpy(panel + of_panel - (kColumns - column % kColumns) * sizeof(float), &bias,
                  sizeof(bias));
    }
  }

  std::mt19937 random_;

 public:
  std::vector<int8_t> inputs;
  std::vector<xnn_qd8_quantization_params> quantization;
  std::vector<Line> packed;
};

/// Results bit by bit: one row of the inputs has a scale that is no number.
template <typename Kernel>
std::vector<uint32_t> product(Kernel& kernel, size_t most_rows, const Problem& p,
                              const Operands& operands) {
  constexpr float kUntouched = -12345.0f;
  const size_t stride = p.columns + 5;
  std::vector<float> out(p.rows * stride, kUntouched);
  xnn_f32_qb4w_minmax_params params = {};
  params.scalar.min = p.lowest;
  params.scalar.max = std::numeric_limits<float>::infinity();
  params.scalar.blocksize = p.block;
  for (size_t row = 0; row < p.rows; row += most_rows) {
    kernel(std::min(most_rows, p.rows - row), p.columns, p.depth,
           operands.inputs.data() + row * Operands::stride(p), Operands::stride(p),
           operands.packed.data(), out.data() + row * stride, stride * sizeof(float),
           kColumns * sizeof(float), &params, operands.quantization.data() + row);
  }
  std::vector<uint32_t> bits(out.size());
  std::memcpy(bits.data(), out.data(), out.size() * sizeof(float));
  return bits;
}

/// XNNPACK's kernel beside one of ours, at `draws` drawn sizes.
template <typename Kernel>
void expect_equal(Kernel& kernel, size_t most_rows, int draws) {
  std::mt19937 random(1);
  for (int draw = 0; draw < draws; ++draw) {
    const size_t block = 32 * (draw % 20 == 0 ? random() % 40 + 9 : random() % 8 + 1);
    const Problem p{random() % 70 + 1, random() % 70 + 1, block * (random() % 9 + 1), block,
                    random() % 2 == 0 ? 0.0f : -std::numeric_limits<float>::infinity()};
    const Operands operands(p);
    EXPECT_EQ(product(kernel, most_rows, p, operands),
              product(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm, 1, p, operands))
        << p.rows << " x " << p.columns << " x " << p.depth << ", blocks of " << p.block;
  }
}

class BlockGemm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (hardware == nullptr || !hardware->use_x86_avx512vnnigfni) {
      GTEST_SKIP() << "this processor has no AVX-512 VNNI with GFNI";
    }
  }

  const xnn_hardware_config* hardware = xnn_init_hardware_config();
};

TEST_F(BlockGemm, OfOneRowIsXnnpacks) {
  expect_equal(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni, 1, 300);
}

TEST_F(BlockGemm, OfSomeRowsIsXnnpacks) {
  for (const size_t rows : {1, 2, 3, 4, 8}) {
    expect_equal(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni, rows, 60);
  }
}

TEST_F(BlockGemm, OfSomeRowsAtTheBoundsOfDepth) {
  for (const size_t depth : {16256, 16320, 16384}) {  // the last by XNNPACK's kernel
    const Problem p{4, 17, depth, 32, -std::numeric_limits<float>::infinity()};
    const Operands operands(p);
    EXPECT_EQ(product(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni, 8, p, operands),
              product(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm, 1, p, operands))
        << "depth " << depth;
  }
}

TEST_F(BlockGemm, OfSomeRowsIsTaken) {
  const xnn_gemm_config& config = *xnn_init_qd8_f32_qb4w_gemm_config();
  if (config.mr != 8) {
    GTEST_SKIP() << "this processor has tiles of " << config.mr << " rows";
  }
  EXPECT_EQ(
      config.minmax.dqgemm[7].function[0],
      reinterpret_cast<xnn_dqgemm_ukernel_fn>(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni));
}

TEST_F(BlockGemm, OfOneRowAtTheBoundsOfDepth) {
  for (const size_t block : {size_t{32}, size_t{256}, size_t{32768}}) {
    for (const size_t depth : {size_t{32768}, size_t{65536}}) {  // the latter by XNNPACK's kernel
      const Problem p{2, 17, depth, block, -std::numeric_limits<float>::infinity()};
      const Operands operands(p);
      EXPECT_EQ(
          product(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni, 1, p, operands),
          product(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm, 1, p, operands))
          << "depth " << depth << ", blocks of " << block;
    }
  }
}

TEST_F(BlockGemm, OfOneRowIsTaken) {
  EXPECT_EQ(
      xnn_init_qd8_f32_qb4w_gemm_config()->minmax.dqgemm[0].function[0],
      reinterpret_cast<xnn_dqgemm_ukernel_fn>(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni));
}

#if defined(EXECUTORCH_XNNPACK_AMX)

TEST_F(BlockGemm, OnTilesIsThatOnVectors) {
  if (!hardware->use_x86_avx512amx) {
    GTEST_SKIP() << "this processor has no AMX";
  }
  expect_equal(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_32x16c8__amx, 32, 200);
}

TEST_F(BlockGemm, TilesAreTakenWhereTheyAre) {
  if (!hardware->use_x86_avx512amx) {
    GTEST_SKIP() << "this processor has no AMX";
  }
  EXPECT_EQ(xnn_init_qd8_f32_qb4w_gemm_config()->mr, 32u);
}

#endif

}  // namespace
