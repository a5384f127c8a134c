// SPDX-License-Identifier: BSD-3-Clause
// Every height of tile and width of panel beside one multiplication and addition at a time, bit by
// bit: both round once a step, in the same order. Those of bfloat16 beside sums of products of
// rounded values.
#include <executorch/backends/xnnpack/library/gemm/bfloat16_packing.h>
#include <executorch/backends/xnnpack/library/gemm/float_gemm.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <cpuinfo.h>

#include "xnnpack/hardware-config.h"

namespace executorch::backends::xnnpack::wide {
namespace {

class WideGemm : public testing::Test {
 protected:
  void SetUp() override {
    const xnn_hardware_config* const hardware = xnn_init_hardware_config();
    if (hardware == nullptr || !hardware->use_x86_avx512skx) {
      GTEST_SKIP() << "this processor has no AVX-512";
    }
  }

  std::vector<float> draw(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal;
    std::generate(values.begin(), values.end(), [&] { return normal(random_); });
    return values;
  }

  std::mt19937 random_{7};
};

struct Problem {
  size_t rows, columns, depth, a_stride, c_stride;  // in elements
  OutputRange range;
};

/// Panels of biases and weights, as XNNPACK packs them; `weights` is [depth, columns].
std::vector<float> pack(const Problem& p, const std::vector<float>& bias,
                        const std::vector<float>& weights) {
  std::vector<float> packed;
  for (size_t first = 0; first < p.columns; first += kColumns) {
    for (size_t k = 0; k <= p.depth; ++k) {
      const float* const line = k == 0 ? bias.data() : weights.data() + (k - 1) * p.columns;
      for (size_t column = first; column < first + kColumns; ++column) {
        packed.push_back(column < p.columns ? line[column] : 0);
      }
    }
  }
  return packed;
}

constexpr float kUntouched = -123;

std::vector<float> expected(const Problem& p, const std::vector<float>& a,
                            const std::vector<float>& bias, const std::vector<float>& weights) {
  std::vector<float> c(p.rows * p.c_stride, kUntouched);
  for (size_t row = 0; row < p.rows; ++row) {
    for (size_t column = 0; column < p.columns; ++column) {
      float sum = bias[column];
      for (size_t k = 0; k < p.depth; ++k) {
        sum = std::fma(a[row * p.a_stride + k], weights[k * p.columns + column], sum);
      }
      c[row * p.c_stride + column] = std::min(std::max(sum, p.range.min), p.range.max);
    }
  }
  return c;
}

std::vector<float> computed(const Problem& p, const std::vector<float>& a,
                            const std::vector<float>& packed) {
  std::vector<float> c(p.rows * p.c_stride, kUntouched);
  gemm_avx512(p.rows, MatrixRows{a.data(), p.a_stride * sizeof(float)},
              {p.columns, p.depth * sizeof(float), packed.data(), c.data(),
               p.c_stride * sizeof(float), kColumns * sizeof(float), p.range});
  return c;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_F(WideGemm, AddsInOrder) {
  for (size_t rows = 1; rows <= kRows; ++rows) {
    for (size_t columns : {1, 15, 16, 17, 31, 32, 33, 48, 49, 64, 100}) {
      for (size_t depth : {1, 2, 17, 64}) {
        const float limit = columns % 2 == 0 ? kInfinity : 0.5f;
        const Problem p{rows, columns, depth, depth + 3, columns + 5, {-limit, limit}};
        const auto a = draw(p.rows * p.a_stride);
        const auto bias = draw(columns);
        const auto weights = draw(depth * columns);
        EXPECT_EQ(computed(p, a, pack(p, bias, weights)), expected(p, a, bias, weights))
            << rows << " rows, " << columns << " columns, depth " << depth;
      }
    }
  }
}

/// A tap of a row is a row of the same `a`: one matmul with all depths one after another.
TEST_F(WideGemm, AddsTapsInOrder) {
  constexpr size_t kTaps = 5, kDepth = 7, kHeight = kRows, kShift = 2;
  for (size_t rows = 1; rows <= kRows; ++rows) {
    for (size_t columns : {16, 40, 64}) {
      const Problem p{rows, columns, kTaps * kDepth, kTaps * kDepth, columns, {-2, 2}};
      auto shifted = draw(kShift + rows * p.depth);
      const auto bias = draw(columns);
      const auto weights = draw(p.depth * columns);
      const std::vector<float> zeros(kDepth + kShift, 0);
      std::vector<const float*> pixels(kTaps * kHeight, zeros.data());
      // The first tap of the last row is `zeros`.
      std::fill_n(shifted.begin() + kShift + (rows - 1) * p.depth, kDepth, 0.0f);
      for (size_t tap = 0; tap < kTaps; ++tap) {
        for (size_t row = 0; row < rows - (tap == 0 ? 1 : 0); ++row) {
          pixels[tap * kHeight + row] = shifted.data() + row * p.depth + tap * kDepth;
        }
      }
      std::vector<float> c(rows * columns, kUntouched);
      const auto packed = pack(p, bias, weights);
      gemm_avx512(rows,
                  IndirectRows{pixels.data(), kTaps, kHeight, kShift * sizeof(float), zeros.data()},
                  {columns, kDepth * sizeof(float), packed.data(), c.data(),
                   columns * sizeof(float), kColumns * sizeof(float), p.range});
      const std::vector<float> a(shifted.begin() + kShift, shifted.end());
      EXPECT_EQ(c, expected(p, a, bias, weights)) << rows << " rows, " << columns << " columns";
    }
  }
}

TEST_F(WideGemm, KeepsNan) {
  const Problem p{2, 3, 1, 1, 3, {0, 6}};
  const std::vector<float> bias(p.columns, 0), weights(p.columns, 1);
  const auto c = computed(p, {std::nanf(""), 7}, pack(p, bias, weights));
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[2]));
  EXPECT_EQ(c[3], 6);
}

#ifdef EXECUTORCH_XNNPACK_BFLOAT16

/// The nearest number of 8 bits, ties to even.
double rounded(float value) {
  int exponent = 0;
  const double part = std::frexp(static_cast<double>(value), &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(part, 8)), exponent - 8);
}

class WideGemmOfBfloat16 : public WideGemm {
 protected:
  void SetUp() override {
    WideGemm::SetUp();
    if (!IsSkipped() && !(cpuinfo_initialize() && cpuinfo_has_x86_avx512bf16())) {
      GTEST_SKIP() << "this processor has no bf16 matmul instructions";
    }
  }
};

/// Of `taps` rows of `depth` values a row of the output.
TEST_F(WideGemmOfBfloat16, MultipliesRoundedValues) {
  struct Size {
    size_t rows, columns, taps, depth;
  };
  std::vector<Size> sizes;
  for (size_t rows = 1; rows <= kRows; ++rows) {
    for (size_t columns : {1, 16, 17, 31, 33, 64}) {
      for (size_t depth : {1, 2, 17, 31, 64, 255, 257, 600}) {
        sizes.push_back({rows, columns, depth % 3 + 1, depth});
      }
    }
  }
  for (const auto& [rows, columns, taps, depth] : sizes) {
    SCOPED_TRACE(testing::Message() << rows << " rows, " << columns << " columns, " << taps
                                    << " taps, depth " << depth);
    const auto a = draw(rows * taps * depth);
    const auto bias = draw(columns);
    const auto weights = draw(columns * taps * depth);
    const size_t panels = (columns + kColumns - 1) / kColumns;
    std::vector<float> packed(panels * kColumns * (1 + taps * (depth + 1) / 2 * 2));
    pack_bfloat16({weights.data(), bias.data(), 1, columns, taps, depth, columns * taps * depth,
                   taps * depth, depth, 1},
                  kColumns, 0, packed.data());
    std::vector<const float*> pixels(taps * kRows);
    for (size_t tap = 0; tap < taps; ++tap) {
      for (size_t row = 0; row < rows; ++row) {
        pixels[tap * kRows + row] = a.data() + (row * taps + tap) * depth;
      }
    }
    std::vector<float> c(rows * columns);
    gemm_bf16(rows, IndirectRows{pixels.data(), taps, kRows, 0, nullptr},
              {columns,
               depth * sizeof(float),
               packed.data(),
               c.data(),
               columns * sizeof(float),
               kColumns * sizeof(float),
               {-kInfinity, kInfinity}});
    for (size_t i = 0; i < c.size(); ++i) {
      const size_t row = i / columns, column = i % columns;
      double sum = bias[column], size = std::abs(sum);
      for (size_t k = 0; k < taps * depth; ++k) {
        const double product =
            rounded(a[row * taps * depth + k]) * rounded(weights[column * taps * depth + k]);
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(c[i], sum, 1e-6 * size) << row << ", " << column;
    }
  }
}

TEST(PackBfloat16, RoundsToTheNearestAndKeepsNan) {
  const float tie_to_even = 1 + 1.0f / 256, tie_up = 1 + 3.0f / 256;  // between 1, 1 + 2/256, ...
  const std::vector<float> weights = {tie_to_even, tie_up, -kInfinity, std::nanf("")};
  std::vector<uint32_t> packed(1 + 4);
  pack_bfloat16({weights.data(), nullptr, 1, 1, 1, 4, 4, 4, 4, 1}, 1, 0, packed.data());
  EXPECT_EQ(packed[0], 0u);
  EXPECT_EQ(packed[1], 0x3F823F80u);
  EXPECT_EQ(packed[2] & 0xFFFF, 0xFF80u);
  EXPECT_GT(packed[2] >> 16 & 0x7FFF, 0x7F80u);
}

#endif

}  // namespace
}  // namespace executorch::backends::xnnpack::wide
