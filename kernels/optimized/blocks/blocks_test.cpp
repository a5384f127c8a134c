// SPDX-License-Identifier: BSD-3-Clause
// Every format by every instruction set: products of the numbers that read_block_row gives, in
// double, with activations that are whole already, so that rounding them changes nothing. By every
// kind of dot products of Arm, with any activations: the same bits.
#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/int8_dots/arm_dots.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace executorch::kernels::optimized;

// Random bytes, but f16 numbers of 0.5 to 1 where scales and minima are such.
std::vector<uint8_t> random_panels(const BlockFormat& f, int64_t panels, int64_t k,
                                   std::mt19937& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(panels * panel_bytes(f, k)));
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
  }
  const int64_t halves = f.byte_scales ? factor_bytes(f) : scale_bytes(f) + minima_bytes(f);
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(block_bytes(f))) {
    for (int64_t i = 1; i < halves; i += 2) {
      bytes[at + static_cast<size_t>(i)] = random() % 2 == 0 ? 0x38 : 0xB9;
    }
  }
  return bytes;
}

std::vector<float> multiplied(const BlockMatrix& matrix, const std::vector<float>& x, int64_t rows,
                              bool fine) {
  std::vector<float> out(static_cast<size_t>(rows * matrix.n), -1.0f);
  const BlockMatmul product{matrix, nullptr, out.data(), matrix.n};
  std::vector<uint8_t> scratch(static_cast<size_t>(block_matmul_bytes(matrix.k, rows, fine)) + 64);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  multiply_blocks(&product, 1, x.data(), rows, fine, scratch.data() + (64 - address % 64) % 64);
  return out;
}

void check(int format, int64_t n, int64_t k, int64_t rows, bool fine) {
  std::mt19937 random(7);
  BlockMatrix matrix{format, n, k, nullptr};
  const auto bytes = random_panels(matrix.facts(), matrix.num_panels(), k, random);
  matrix.panels = bytes.data();
  std::vector<float> x(static_cast<size_t>(rows * k));
  for (int64_t i = 0; i < rows * k; ++i) {
    x[static_cast<size_t>(i)] =
        i % 32 == 0 ? 127.0f : static_cast<float>(static_cast<int64_t>(random() % 255) - 127);
  }
  const auto out = multiplied(matrix, x, rows, fine);
  std::vector<float> row(static_cast<size_t>(k));
  for (int64_t j = 0; j < n; ++j) {
    read_block_row(matrix, j, row.data());
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0, size = 1;
      for (int64_t c = 0; c < k; ++c) {
        const double term =
            static_cast<double>(row[static_cast<size_t>(c)]) * x[static_cast<size_t>(i * k + c)];
        sum += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(out[static_cast<size_t>(i * n + j)], sum, 3e-6 * size)
          << matrix.facts().name << " row " << i << ", column " << j << " of " << n << " x " << k;
    }
  }
}

TEST(Blocks, ProductsAreThoseOfTheNumbers) {
  on_every_target([] {  // by the best kind of dot products; the others give the same, see below
    for (int format = 0; format < kNumBlockFormats; ++format) {
      for (int64_t rows : {1, 2, 3, 4, 9, 13, 20, 23}) {
        check(format, 37, 512, rows, false);
      }
      check(format, 16, 256, 5, true);
    }
  });
}

// Sums of a group are exact whatever multiplies, and are scaled and added in one order.
TEST(Blocks, KindsOfDotProductsGiveTheSameBits) {
  constexpr int64_t kRows[] = {1, 2, 4, 11, 12};
  constexpr int64_t kDepth = 1024;  // two parts of panels where there are many rows
  for (int format = 0; format < kNumBlockFormats; ++format) {
    std::mt19937 random(9);
    BlockMatrix matrix{format, 21, kDepth, nullptr};
    const auto bytes = random_panels(matrix.facts(), matrix.num_panels(), kDepth, random);
    matrix.panels = bytes.data();
    std::normal_distribution<float> normal;
    for (int64_t rows : kRows) {
      std::vector<float> x(static_cast<size_t>(rows * kDepth));
      std::generate(x.begin(), x.end(), [&] { return normal(random); });
      limit_arm_dots(ArmDots::kNone);
      const auto plain = multiplied(matrix, x, rows, false);
      for (ArmDots dots : kAllArmDots) {
        limit_arm_dots(dots);
        const auto found = multiplied(matrix, x, rows, false);
        ASSERT_EQ(std::memcmp(found.data(), plain.data(), plain.size() * sizeof(float)), 0)
            << matrix.facts().name << ", " << rows << " rows, ArmDots " << static_cast<int>(dots);
      }
    }
  }
  RecordProperty("arm_dots", static_cast<int>(arm_dots()));  // cross_blocks_test.py reads it
}

}  // namespace
