// SPDX-License-Identifier: BSD-3-Clause
// Every format by every instruction set: products of the numbers that read_block_row gives, in
// double, with activations that are whole already, so that rounding them changes nothing.
#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <gtest/gtest.h>

#include <cmath>
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

void check(int format, int64_t n, int64_t k, int64_t rows, bool fine) {
  std::mt19937 random(7);
  BlockMatrix matrix{format, n, k, nullptr};
  const auto bytes = random_panels(matrix.facts(), matrix.num_panels(), k, random);
  matrix.panels = bytes.data();
  std::vector<float> x(static_cast<size_t>(rows * k)), out(static_cast<size_t>(rows * n), -1.0f);
  for (int64_t i = 0; i < rows * k; ++i) {
    x[static_cast<size_t>(i)] =
        i % 32 == 0 ? 127.0f : static_cast<float>(static_cast<int64_t>(random() % 255) - 127);
  }
  const BlockMatmul product{matrix, nullptr, out.data(), n};
  std::vector<uint8_t> scratch(static_cast<size_t>(block_matmul_bytes(k, rows, fine)) + 64);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  multiply_blocks(&product, 1, x.data(), rows, fine, scratch.data() + (64 - address % 64) % 64);
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
  on_every_target([] {
    for (int format = 0; format < kNumBlockFormats; ++format) {
      for (int64_t rows : {1, 2, 3, 4, 9, 13, 20, 23}) {
        check(format, 37, 512, rows, false);
      }
      check(format, 16, 256, 5, true);
    }
  });
}

}  // namespace
