// SPDX-License-Identifier: BSD-3-Clause
// Our order of 4-bit weights with a scale per block beside the one that XNNPACK makes.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <executorch/backends/xnnpack/library/packing_pool.h>

#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"

extern "C" decltype(xnn_pack_qs8_qb4w_gemm_goi_w) xnn_pack_qs8_qb4w_gemm_goi_w_any;

namespace {

struct Shape {
  size_t groups, columns, depth, panel, kr, sr, block;
};

/// Where XNNPACK packs to: aligned for the widest vectors.
struct alignas(64) Line {
  uint8_t bytes[64];
};

enum class Packer { kOurs, kXnnpack };

std::vector<uint8_t> packed_by(Packer packer, const Shape& s) {
  std::mt19937 random(static_cast<uint32_t>(s.columns * 1000 + s.depth));
  std::vector<uint8_t> weights(s.groups * s.columns * s.depth / 2);
  for (uint8_t& each : weights) {
    each = static_cast<uint8_t>(random());
  }
  std::vector<xnn_bfloat16> scales(s.columns * (s.depth / s.block));
  for (xnn_bfloat16& each : scales) {
    each = xnn_bfloat16_from_float(static_cast<float>(random() % 1000 + 1) / 7.0f);
  }
  const size_t extra_of_block = s.panel * sizeof(xnn_bfloat16);
  const size_t extra_of_panel = s.panel * sizeof(float);
  const size_t panels = (s.columns + s.panel - 1) / s.panel;
  const size_t of_panel = s.panel * sizeof(float) + s.panel * s.depth / 2 +
                          s.depth / s.block * extra_of_block + extra_of_panel;
  const size_t size = s.groups * panels * of_panel;
  std::vector<Line> lines(size / sizeof(Line) + 1, Line{});
  const xnn_qs8_qc4w_packing_params params{/*input_zero_point=*/1, /*kernel_zero_point=*/8};
  uint8_t* const packed = lines[0].bytes;
  const auto pack =
      packer == Packer::kOurs ? xnn_pack_qs8_qb4w_gemm_goi_w : xnn_pack_qs8_qb4w_gemm_goi_w_any;
  pack(s.groups, s.columns, s.depth, s.panel, s.kr, s.sr, s.block, weights.data(), nullptr,
       scales.data(), packed, extra_of_block, extra_of_panel, &params);
  if (packer == Packer::kXnnpack) {
    const size_t of_words = s.panel * s.block / 2;
    xnn_init_blockwise_scale_bf16_params(
        s.columns, s.panel, s.panel, of_panel, of_panel, s.depth / s.block,
        of_words + extra_of_block, 0, scales.data(), packed + s.panel * sizeof(float) + of_words);
  }
  return {packed, packed + size};
}

TEST(BlockPacking, IsThatOfXnnpack) {
  for (const size_t columns : {1, 7, 8, 16, 17, 50}) {
    for (const size_t panel : {4, 8, 16}) {
      for (const size_t kr : {4, 8}) {
        for (const size_t block : {32, 64, 96, 256}) {
          for (const size_t blocks : {1, 3}) {
            const Shape shape{1, columns, block * blocks, panel, kr, 1, block};
            EXPECT_EQ(packed_by(Packer::kOurs, shape), packed_by(Packer::kXnnpack, shape))
                << columns << " columns of " << blocks << " blocks of " << block << ", panels of "
                << panel << ", kr " << kr;
          }
        }
      }
    }
  }
}

TEST(BlockPacking, LeavesOtherOrdersToXnnpack) {
  for (const Shape& shape : {Shape{1, 9, 64, 8, 2, 1, 32}, Shape{1, 9, 64, 8, 8, 2, 64}}) {
    EXPECT_EQ(packed_by(Packer::kOurs, shape), packed_by(Packer::kXnnpack, shape));
  }
}

TEST(BlockPacking, IsTheSameByThreads) {
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(3),
                                                                          pthreadpool_destroy);
  const Shape shape{1, 500, 256, 16, 8, 1, 32};
  xnn_set_packing_pool(pool.get());
  const std::vector<uint8_t> packed = packed_by(Packer::kOurs, shape);
  xnn_set_packing_pool(nullptr);
  EXPECT_EQ(packed, packed_by(Packer::kXnnpack, shape));
}

}  // namespace
