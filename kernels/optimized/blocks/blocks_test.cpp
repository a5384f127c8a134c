// SPDX-License-Identifier: BSD-3-Clause
// Every format by every instruction set: products of the numbers that read_block_row gives, in
// double, with activations that are whole already, so that rounding them changes nothing. By every
// kind of dot products of Arm, with any activations: the same bits.
#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/gemm/gemm_amx.h>
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
std::vector<uint8_t> random_panels(const BlockMatrix& matrix, std::mt19937& random) {
  const BlockFormat& f = matrix.facts();
  std::vector<uint8_t> bytes(static_cast<size_t>(matrix.num_panels() * matrix.panel_bytes()));
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
  }
  const int64_t halves = f.byte_scales ? factor_bytes(f) : scale_bytes(f) + minima_bytes(f);
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(matrix.block_bytes())) {
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
  const auto bytes = random_panels(matrix, random);
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

// With tiles where the processor has them, and without.
template <class Body>
void on_every_kind(const Body& body) {
  on_every_target(body);
  if (has_amx()) {
    forbid_amx(true);
    body();
    forbid_amx(false);
  }
}

TEST(Blocks, ProductsAreThoseOfTheNumbers) {
  on_every_kind([] {  // by the best kind of dot products; the others give the same, see below
    for (int format = 0; format < kInt4Format; ++format) {
      for (int64_t rows : {1, 2, 3, 4, 9, 13, 20, 37}) {
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
  for (int format = 0; format < kInt4Format; ++format) {
    std::mt19937 random(9);
    BlockMatrix matrix{format, 21, kDepth, nullptr};
    const auto bytes = random_panels(matrix, random);
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

struct Products final : BlockResult {
  Products(int64_t rows, int64_t n) : n(n), values(static_cast<size_t>(rows * n), NAN) {}
  void finish(int64_t, const Tile& tile) const override {
    for (int64_t i = 0; i < tile.rows; ++i) {
      for (int64_t j = 0; j < tile.cols; ++j) {
        values[static_cast<size_t>((tile.row + i) * n + tile.col + j)] =
            tile.sums[i * tile.stride + j];
      }
    }
  }
  int64_t n;
  mutable std::vector<float> values;
};

float from_bfloat16(uint16_t upper) {
  const uint32_t bits = static_cast<uint32_t>(upper) << 16;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// Rows of int8 by numbers of 4 bits: value (j, c) is scale of its block times (nibble - 8).
void check_int4(int64_t n, int64_t blocks, int64_t block_units, int64_t rows, bool scaled) {
  std::mt19937 random(11);
  const int64_t k = blocks * block_units * kUnit;
  std::vector<uint8_t> values(static_cast<size_t>(n * k / 2));
  std::vector<uint16_t> scales(static_cast<size_t>(n * blocks));
  std::vector<int8_t> x(static_cast<size_t>(rows * k));
  std::generate(values.begin(), values.end(), [&] { return static_cast<uint8_t>(random()); });
  std::generate(scales.begin(), scales.end(),
                [&] { return static_cast<uint16_t>(0x3C00 + random() % 0x400); });
  std::generate(x.begin(), x.end(), [&] { return static_cast<int8_t>(random()); });
  BlockMatrix matrix = int4_matrix(n, k, block_units);
  std::vector<uint8_t> panels(static_cast<size_t>(matrix.num_panels() * matrix.panel_bytes()));
  std::vector<float> sums(static_cast<size_t>(matrix.num_panels() * kPanelRows));
  pack_int4({n, k, block_units, values.data(), scaled ? scales.data() : nullptr}, matrix,
            panels.data(), sums.data());
  matrix.panels = panels.data();
  const Products found(rows, n);
  std::vector<uint8_t> scratch(static_cast<size_t>(int4_matmul_bytes(k, rows)) + 64);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  multiply_int4(matrix, x.data(), rows, found, scratch.data() + (64 - address % 64) % 64);
  for (int64_t j = 0; j < n; ++j) {
    std::vector<double> row(static_cast<size_t>(k));
    double of_row = 0;
    for (int64_t c = 0; c < k; ++c) {
      const uint8_t byte = values[static_cast<size_t>((j * k + c) / 2)];
      const auto block = static_cast<size_t>(j * blocks + c / (block_units * kUnit));
      const float scale = scaled ? from_bfloat16(scales[block]) : 1.0f;
      row[static_cast<size_t>(c)] = ((c % 2 == 0 ? byte & 15 : byte >> 4) - 8) * double{scale};
      of_row += row[static_cast<size_t>(c)];
    }
    ASSERT_NEAR(sums[static_cast<size_t>(j)], of_row, 1e-4 * static_cast<double>(k)) << j;
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0, size = 1;
      for (int64_t c = 0; c < k; ++c) {
        const double term = row[static_cast<size_t>(c)] * x[static_cast<size_t>(i * k + c)];
        sum += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(found.values[static_cast<size_t>(i * n + j)], sum, 1e-6 * size)
          << "row " << i << " of " << rows << ", column " << j << ", " << blocks << " blocks of "
          << block_units << " units";
    }
  }
}

TEST(Blocks, Int4ProductsAreThoseOfTheNumbers) {
  on_every_kind([] {
    for (int64_t block_units : {1, 2, 3, 4, 8, 11, 20}) {
      for (int64_t rows : {1, 2, 5, 9, 16, 35}) {
        check_int4(37, 3, block_units, rows, true);
      }
    }
    check_int4(16, 25, 1, 3, true);
    check_int4(32, 25, 2, 20, true);
    check_int4(20, 1, 9, 12, false);
    check_int4(16, 64, 8, 50, true);  // more rows than are taken at a time
  });
}

}  // namespace
