// SPDX-License-Identifier: BSD-3-Clause
// Unary and binary functions, comparisons, selection, sums, softmax and normalization against plain
// loops in double.
#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/optimized/unary.h>
#include <executorch/kernels/portable/binary.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace executorch::kernels::optimized;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_values(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 2.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = normal(generator);
  }
  return values;
}

struct UnaryCase {
  const char* name;
  Unary function;
  double (*exact)(double);
  double relative;
  double absolute = std::numeric_limits<float>::min();
};

double gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

const UnaryCase kUnaryCases[] = {
    {"abs", Unary::kAbs, [](double x) { return std::fabs(x); }, 0},
    {"neg", Unary::kNeg, [](double x) { return -x; }, 0},
    {"exp", Unary::kExp, [](double x) { return std::exp(x); }, 2e-7},
    {"expm1", Unary::kExpm1, [](double x) { return std::expm1(x); }, 5e-7},
    {"log", Unary::kLog, [](double x) { return std::log(x); }, 2e-7},
    {"log2", Unary::kLog2, [](double x) { return std::log2(x); }, 3e-7},
    {"log10", Unary::kLog10, [](double x) { return std::log10(x); }, 3e-7},
    {"log1p", Unary::kLog1p, [](double x) { return std::log1p(x); }, 3e-7},
    {"tan", Unary::kTan, [](double x) { return std::tan(x); }, 6e-7},
    {"acos", Unary::kAcos, [](double x) { return std::acos(x); }, 4e-7},
    {"asin", Unary::kAsin, [](double x) { return std::asin(x); }, 4e-7},
    {"atanh", Unary::kAtanh, [](double x) { return std::atanh(x); }, 6e-7},
    {"cosh", Unary::kCosh, [](double x) { return std::cosh(x); }, 5e-7},
    {"atan", Unary::kAtan, [](double x) { return std::atan(x); }, 4e-7},
    {"sinh", Unary::kSinh, [](double x) { return std::sinh(x); }, 5e-7},
    {"sqrt", Unary::kSqrt, [](double x) { return std::sqrt(x); }, 1e-7},
    {"rsqrt", Unary::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2e-7},
    {"reciprocal", Unary::kReciprocal, [](double x) { return 1 / x; }, 1e-7},
    {"sin", Unary::kSin, [](double x) { return std::sin(x); }, 3e-7},
    {"cos", Unary::kCos, [](double x) { return std::cos(x); }, 3e-7},
    {"tanh", Unary::kTanh, [](double x) { return std::tanh(x); }, 4e-7},
    {"sigmoid", Unary::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 4e-7},
    {"erf", Unary::kErf, [](double x) { return std::erf(x); }, 4e-7},
    {"erfc", Unary::kErfc, [](double x) { return std::erfc(x); }, 2e-6},
    {"gelu", Unary::kGelu, gelu, 4e-7, 1e-6},
    {"relu", Unary::kRelu, [](double x) { return x < 0 ? 0 : x; }, 0},
    {"hardswish", Unary::kHardswish,
     [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }, 2e-7, 2e-7},
    {"ceil", Unary::kCeil, [](double x) { return std::ceil(x); }, 0},
    {"floor", Unary::kFloor, [](double x) { return std::floor(x); }, 0},
    {"round", Unary::kRound, [](double x) { return std::nearbyint(x); }, 0},
    {"trunc", Unary::kTrunc, [](double x) { return std::trunc(x); }, 0},
    {"square", Unary::kSquare, [](double x) { return x * x; }, 1e-7},
    {"cube", Unary::kCube, [](double x) { return x * x * x; }, 2e-7},
};

TEST(UnaryFunctions, AreCloseToTheStandardLibrary) {
  std::vector<float> in = random_values(20001, 1);
  for (int i = -1200; i < 1200; ++i) {
    in.push_back(static_cast<float>(i) * 0.07f);
  }
  std::vector<float> out(in.size());
  for (const UnaryCase& c : kUnaryCases) {
    map_unary(c.function, {}, in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      const double exact = c.exact(in[i]);
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(out[i])) << c.name << "(" << in[i] << ")";
      } else if (std::fabs(exact) <= std::numeric_limits<float>::max()) {
        ASSERT_NEAR(out[i], exact, c.relative * std::fabs(exact) + c.absolute * (c.relative > 0))
            << c.name << "(" << in[i] << ")";
      }
    }
  }
}

TEST(UnaryFunctions, TakeSpecialValues) {
  const std::vector<float> in = {0.0f,  -0.0f, kInfinity, -kInfinity, kNan,
                                 88.7f, 89.0f, -110.0f,   3e38f,      1e6f};
  std::vector<float> out(in.size());
  for (const UnaryCase& c : kUnaryCases) {
    map_unary(c.function, {}, in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      const auto exact = static_cast<float>(c.exact(in[i]));
      if (std::isnan(exact)) {
        // -inf * 0 in gelu is the one place where the limit is 0 and the formula is not a number
        EXPECT_TRUE(std::isnan(out[i]) || c.function == Unary::kGelu)
            << c.name << "(" << in[i] << ")";
      } else if (c.function == Unary::kGelu && in[i] == -kInfinity) {
        continue;
      } else if (std::isinf(exact)) {
        EXPECT_EQ(out[i], exact) << c.name << "(" << in[i] << ")";
      } else {
        EXPECT_NEAR(out[i], exact, 2e-6 * std::fabs(exact)) << c.name << "(" << in[i] << ")";
      }
    }
  }
}

TEST(UnaryFunctions, Powers) {
  std::vector<float> in = random_values(1000, 21);
  for (float& x : in) {
    x = std::fabs(x) + 1e-3f;
  }
  in.insert(in.end(), {0.0f, -2.0f, kInfinity, -kInfinity, kNan, 1e-30f, 1e30f, -0.5f, 1.0f});
  std::vector<float> out(in.size());
  for (float exponent : {2.5f, -3.0f, 0.0f, 1.0f, 0.3333f, 17.0f}) {
    map_unary(Unary::kPow, {exponent}, in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      const float exact = std::pow(in[i], exponent);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(out[i])) << in[i] << " ^ " << exponent;
      } else if (std::isinf(exact)) {
        EXPECT_EQ(out[i], exact) << in[i] << " ^ " << exponent;
      } else {
        EXPECT_NEAR(out[i], exact, 2e-7 * std::fabs(exact) + 1e-44) << in[i] << " ^ " << exponent;
      }
    }
  }
}

TEST(BinaryFunctions, PowersOfTwoArguments) {
  std::vector<float> x = random_values(5003, 22), y = random_values(5003, 23);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 97 == 0 ? x[i] : std::fabs(x[i]);  // a vector with a negative base now and then
    y[i] *= i % 5 == 0 ? 30.0f : 1.0f;            // infinite and vanishing results
  }
  x[7] = 1e-41f;
  y[11] = kInfinity;
  y[500] = 3e38f;
  x[900] = kNan;
  std::vector<float> out(x.size());
  Broadcast walk;
  walk.row = static_cast<int64_t>(x.size());
  walk.inner[0] = walk.inner[1] = 1;
  map_binary(Binary::kPow, 1.0f, walk, x.data(), y.data(), out.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(rounded) || std::isinf(rounded)) {
      EXPECT_EQ(std::isnan(rounded), std::isnan(out[i])) << x[i] << " ^ " << y[i];
      EXPECT_TRUE(std::isnan(rounded) || out[i] == rounded) << x[i] << " ^ " << y[i];
    } else {
      EXPECT_NEAR(out[i], exact, 7e-8 * std::fabs(exact) + 1e-44) << x[i] << " ^ " << y[i];
    }
  }
}

TEST(UnaryFunctions, WithConstants) {
  const std::vector<float> in = {-7.0f, -0.5f, 0.0f, 0.5f, 6.0f, 9.0f, kNan};
  std::vector<float> out(in.size());
  map_unary(Unary::kClamp, {0.0f, 6.0f}, in.data(), out.data(), 7);
  EXPECT_EQ(std::vector<float>(out.begin(), out.end() - 1),
            (std::vector<float>{0, 0, 0, 0.5f, 6, 6}));
  EXPECT_TRUE(std::isnan(out.back()));
  map_unary(Unary::kLeakyRelu, {0.1f}, in.data(), out.data(), 7);
  EXPECT_FLOAT_EQ(out[0], -0.7f);
  EXPECT_EQ(out[4], 6.0f);
  map_unary(Unary::kElu, {2.0f, 3.0f, 0.5f}, in.data(), out.data(), 7);
  EXPECT_FLOAT_EQ(out[1], 2.0f * std::expm1(-0.25f));
  EXPECT_EQ(out[4], 18.0f);
}

// Strides of a contiguous operand of the given shape, 0 where it is 1.
void set_strides(const std::vector<int64_t>& shape, int64_t (&strides)[kMaxOuterDims]) {
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
}

struct BroadcastCase {
  std::vector<int64_t> x, y;
};

class BroadcastTest : public ::testing::TestWithParam<BroadcastCase> {
 protected:
  void SetUp() override {
    int64_t strides[kMaxOperands][kMaxOuterDims] = {};
    set_strides(GetParam().x, strides[0]);
    set_strides(GetParam().y, strides[1]);
    set_strides(GetParam().x, strides[2]);
    int64_t x_count = 1, y_count = 1;
    for (size_t d = 0; d < GetParam().x.size(); ++d) {
      sizes_.push_back(GetParam().x[d] == 1 ? GetParam().y[d] : GetParam().x[d]);
      count_ *= sizes_.back();
      x_count *= GetParam().x[d];
      y_count *= GetParam().y[d];
    }
    for (int64_t at = 0; at < count_; ++at) {
      int64_t rest = at, x = 0, y = 0;
      for (size_t d = sizes_.size(); d-- > 0;) {
        x += rest % sizes_[d] * strides[0][d];
        y += rest % sizes_[d] * strides[1][d];
        rest /= sizes_[d];
      }
      x_index_.push_back(static_cast<size_t>(x));
      y_index_.push_back(static_cast<size_t>(y));
    }
    x_ = random_values(x_count, 2);
    y_ = random_values(y_count, 3);
    walk_ = plan_broadcast(static_cast<int>(sizes_.size()), sizes_.data(), kMaxOperands, strides);
  }

  std::vector<int64_t> sizes_;
  int64_t count_ = 1;
  std::vector<size_t> x_index_, y_index_;
  std::vector<float> x_, y_;
  Broadcast walk_;
};

TEST_P(BroadcastTest, Arithmetic) {
  std::vector<float> out(static_cast<size_t>(count_), kNan);
  const auto check = [&](Binary f, float alpha, auto exact) {
    map_binary(f, alpha, walk_, x_.data(), y_.data(), out.data());
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_FLOAT_EQ(out[i], exact(x_[x_index_[i]], y_[y_index_[i]])) << i;
    }
  };
  check(Binary::kAdd, 1.0f, [](float x, float y) { return x + y; });
  check(Binary::kAdd, 2.0f, [](float x, float y) { return x + 2 * y; });
  check(Binary::kSub, 1.0f, [](float x, float y) { return x - y; });
  check(Binary::kSub, 0.5f, [](float x, float y) { return x - 0.5f * y; });
  check(Binary::kMul, 1.0f, [](float x, float y) { return x * y; });
  check(Binary::kDiv, 1.0f, [](float x, float y) { return x / y; });
  check(Binary::kMax, 1.0f, [](float x, float y) { return x > y ? x : y; });
  check(Binary::kMin, 1.0f, [](float x, float y) { return x < y ? x : y; });
  check(Binary::kAtan2, 1.0f, [](float x, float y) { return std::atan2(x, y); });
  check(Binary::kFmod, 1.0f, [](float x, float y) { return std::fmod(x, y); });
}

TEST_P(BroadcastTest, ComparisonAndSelection) {
  if (count_ > 0) {
    y_[0] = x_[0];
    x_[x_.size() / 2] = kNan;
  }
  std::vector<char> flags(static_cast<size_t>(count_), 7);
  auto* out = reinterpret_cast<bool*>(flags.data());
  const auto check = [&](Compare f, auto exact) {
    map_compare(executorch::aten::ScalarType::Float, f, walk_, x_.data(), y_.data(), out);
    for (size_t i = 0; i < flags.size(); ++i) {
      ASSERT_EQ(flags[i], exact(x_[x_index_[i]], y_[y_index_[i]]) ? 1 : 0) << i;
    }
  };
  check(Compare::kEq, [](float x, float y) { return x == y; });
  check(Compare::kNe, [](float x, float y) { return x != y; });
  check(Compare::kLt, [](float x, float y) { return x < y; });
  check(Compare::kLe, [](float x, float y) { return x <= y; });
  check(Compare::kGt, [](float x, float y) { return x > y; });
  check(Compare::kGe, [](float x, float y) { return x >= y; });
  for (float& x : x_) {
    x = x == x ? x : 0.25f;
  }
  // Selection: x's shape decides between y (as the second operand) and x itself.
  std::vector<char> condition(x_.size());
  for (size_t i = 0; i < x_.size(); ++i) {
    condition[i] = x_[i] > 0 ? 1 : 0;
  }
  std::vector<float> chosen(static_cast<size_t>(count_), kNan);
  map_where(sizeof(float), walk_, reinterpret_cast<const bool*>(condition.data()), y_.data(),
            x_.data(), chosen.data());
  for (size_t i = 0; i < chosen.size(); ++i) {
    ASSERT_EQ(chosen[i], condition[x_index_[i]] != 0 ? y_[y_index_[i]] : x_[x_index_[i]]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BroadcastTest,
    ::testing::Values(
        BroadcastCase{{1}, {1}}, BroadcastCase{{5}, {1}}, BroadcastCase{{1}, {67}},
        BroadcastCase{{3, 45}, {3, 45}}, BroadcastCase{{3, 45}, {1, 45}},
        BroadcastCase{{3, 45}, {3, 1}}, BroadcastCase{{3, 1}, {1, 45}},
        BroadcastCase{{2, 3, 4, 17}, {1, 3, 1, 1}}, BroadcastCase{{2, 1, 4, 1}, {1, 3, 1, 17}},
        BroadcastCase{{300, 1, 130}, {1, 2, 1}}, BroadcastCase{{300, 7, 33}, {300, 7, 1}},
        BroadcastCase{{300, 7, 1}, {300, 7, 33}}, BroadcastCase{{90, 5, 3, 67}, {90, 1, 3, 1}},
        BroadcastCase{{20000, 1, 5}, {1, 3, 5}}, BroadcastCase{{3, 257, 129}, {3, 1, 129}},
        BroadcastCase{{4, 0, 3}, {4, 1, 3}}));

TEST(Modulus, IsExactForAllQuotients) {
  const std::vector<float> x = {5.5f, -5.5f,     5.5f, -5.5f, 1e30f, 3.0f,
                                0.3f, kInfinity, 2.0f, 7.0f,  -0.0f, 1e-40f};
  const std::vector<float> y = {2.0f, 2.0f, -2.0f, -2.0f, 3.7f, kInfinity,
                                0.1f, 2.0f, 0.0f,  7.0f,  3.0f, 3e-42f};
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> fmod(x.size()), remainder(x.size()), whole(x.size());
  Broadcast walk;
  walk.row = n;
  walk.inner[0] = walk.inner[1] = 1;
  map_binary(Binary::kFmod, 1.0f, walk, x.data(), y.data(), fmod.data());
  map_binary(Binary::kRemainder, 1.0f, walk, x.data(), y.data(), remainder.data());
  map_binary(Binary::kFloorDiv, 1.0f, walk, x.data(), y.data(), whole.data());
  for (size_t i = 0; i < x.size(); ++i) {
    // One at a time, too, so that easy and hard cases do not share a vector.
    walk.row = 1;
    float one;
    map_binary(Binary::kFmod, 1.0f, walk, &x[i], &y[i], &one);
    const float quotient = executorch::kernels::FloorDiv()(x[i], y[i]);
    EXPECT_TRUE(whole[i] == quotient || (std::isnan(whole[i]) && std::isnan(quotient)))
        << x[i] << " // " << y[i] << " = " << whole[i];
    const float exact = std::fmod(x[i], y[i]);
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(fmod[i]) && std::isnan(one) && std::isnan(remainder[i])) << i;
      continue;
    }
    EXPECT_EQ(fmod[i], exact) << x[i] << " mod " << y[i];
    EXPECT_EQ(one, exact) << x[i] << " mod " << y[i];
    const bool other_sign = exact != 0 && (exact < 0) != (y[i] < 0);
    EXPECT_EQ(remainder[i], other_sign ? exact + y[i] : exact) << x[i] << " mod " << y[i];
  }
}

struct InnerLoopsCase {
  int64_t outer, n, inner;
};

class InnerLoopsTest : public ::testing::TestWithParam<InnerLoopsCase> {
 protected:
  void SetUp() override {
    loops_ = {GetParam().outer, GetParam().n, GetParam().inner};
    in_ = random_values(loops_.outer * loops_.n * loops_.inner, 4);
  }
  // Calls f(values of the line, its index) for every line.
  template <typename Fn>
  void for_each_line(const std::vector<float>& from, Fn&& f) const {
    for (int64_t line = 0; line < loops_.outer * loops_.inner; ++line) {
      const int64_t start = line / loops_.inner * loops_.n * loops_.inner + line % loops_.inner;
      std::vector<double> values;
      for (int64_t i = 0; i < loops_.n; ++i) {
        values.push_back(from[static_cast<size_t>(start + i * loops_.inner)]);
      }
      f(values, static_cast<size_t>(line));
    }
  }
  InnerLoops loops_ = {};
  std::vector<float> in_;
};

TEST_P(InnerLoopsTest, Sum) {
  std::vector<float> out(static_cast<size_t>(loops_.outer * loops_.inner), kNan);
  sum_dim(loops_, 0.5f, in_.data(), out.data());
  for_each_line(in_, [&](const std::vector<double>& values, size_t line) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    ASSERT_NEAR(out[line], 0.5 * sum, 1e-6 * static_cast<double>(values.size() + 1)) << line;
  });
}

TEST_P(InnerLoopsTest, ExtremesAndCumulatedSums) {
  std::vector<float> most(static_cast<size_t>(loops_.outer * loops_.inner), kNan);
  std::vector<float> least(most.size(), kNan);
  std::vector<float> sums(in_.size(), kNan);
  extreme_dim(loops_, /*largest=*/true, in_.data(), most.data());
  extreme_dim(loops_, /*largest=*/false, in_.data(), least.data());
  cumulate_dim(loops_, in_.data(), sums.data());
  std::vector<std::vector<double>> expected;
  for_each_line(in_, [&](const std::vector<double>& values, size_t line) {
    ASSERT_EQ(most[line], *std::max_element(values.begin(), values.end()));
    ASSERT_EQ(least[line], *std::min_element(values.begin(), values.end()));
    expected.emplace_back();
    double sum = 0;
    for (double value : values) {
      expected.back().push_back(sum += value);
    }
  });
  for_each_line(sums, [&](const std::vector<double>& values, size_t line) {
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected[line][i], 1e-5 * (1 + std::fabs(expected[line][i])));
    }
  });
}

TEST_P(InnerLoopsTest, PositionsOfExtremes) {
  if (loops_.inner == 1) {
    return;  // not for lines of the last dimension
  }
  in_[in_.size() / 2] = kNan;
  for (float& x : in_) {
    x = std::round(2 * x);  // some are equal: the first counts
  }
  for (bool largest : {true, false}) {
    std::vector<float> values(static_cast<size_t>(loops_.outer * loops_.inner));
    std::vector<int64_t> positions(values.size(), -1);
    position_dim(loops_, largest, in_.data(), values.data(), positions.data());
    for_each_line(in_, [&](const std::vector<double>& line, size_t i) {
      size_t best = 0;
      for (size_t k = 1; k < line.size(); ++k) {
        const bool better = largest ? line[k] > line[best] : line[k] < line[best];
        best = !std::isnan(line[best]) && (better || std::isnan(line[k])) ? k : best;
      }
      ASSERT_EQ(positions[i], static_cast<int64_t>(best)) << i;
      ASSERT_TRUE(values[i] == line[best] || (std::isnan(values[i]) && std::isnan(line[best])));
    });
  }
}

TEST_P(InnerLoopsTest, Softmax) {
  for (bool logarithm : {false, true}) {
    std::vector<float> out(in_.size(), kNan);
    softmax_dim(loops_, logarithm, in_.data(), out.data());
    std::vector<std::vector<double>> expected;
    for_each_line(in_, [&](const std::vector<double>& values, size_t) {
      double sum = 0;
      for (double value : values) {
        sum += std::exp(value);
      }
      expected.emplace_back();
      for (double value : values) {
        expected.back().push_back(logarithm ? value - std::log(sum) : std::exp(value) / sum);
      }
    });
    for_each_line(out, [&](const std::vector<double>& values, size_t line) {
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], expected[line][i], 2e-6 * (1 + std::fabs(expected[line][i])));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, InnerLoopsTest,
                         ::testing::Values(InnerLoopsCase{1, 1, 1}, InnerLoopsCase{3, 5, 1},
                                           InnerLoopsCase{40, 200, 1}, InnerLoopsCase{2, 7, 3},
                                           InnerLoopsCase{2, 50, 49}, InnerLoopsCase{1, 1000, 20},
                                           InnerLoopsCase{2, 1, 33}, InnerLoopsCase{2, 9, 200}));

TEST(Softmax, MasksWithInfinityAndKeepsNan) {
  const std::vector<float> in = {1.0f, -kInfinity, 2.0f, 1.0f, kNan, 2.0f};
  std::vector<float> out(6);
  softmax_dim({2, 3, 1}, /*logarithm=*/false, in.data(), out.data());
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_NEAR(out[0] + out[2], 1.0f, 1e-6f);
  for (size_t i = 3; i < 6; ++i) {
    EXPECT_TRUE(std::isnan(out[i]));
  }
}

TEST(LayerNorm, NormalizesRows) {
  for (int64_t n : {1, 3, 16, 100, 777}) {
    constexpr int64_t kRows = 5;
    const auto in = random_values(kRows * n, 5);
    const auto weight = random_values(n, 6);
    const auto bias = random_values(n, 7);
    std::vector<float> out(in.size(), kNan), mean(kRows), rstd(kRows);
    for (bool affine : {false, true}) {
      layer_norm({kRows, n, 1e-5f, in.data(), affine ? weight.data() : nullptr,
                  affine ? bias.data() : nullptr, out.data(), mean.data(), rstd.data()});
      for (int64_t row = 0; row < kRows; ++row) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; ++i) {
          sum += in[static_cast<size_t>(row * n + i)];
        }
        const double average = sum / static_cast<double>(n);
        for (int64_t i = 0; i < n; ++i) {
          squares += std::pow(in[static_cast<size_t>(row * n + i)] - average, 2);
        }
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
        EXPECT_NEAR(mean[static_cast<size_t>(row)], average, 1e-5);
        EXPECT_NEAR(rstd[static_cast<size_t>(row)], scale, 1e-4 * scale);
        for (int64_t i = 0; i < n; ++i) {
          const auto at = static_cast<size_t>(row * n + i);
          double y = (in[at] - average) * scale;
          y = affine ? y * weight[static_cast<size_t>(i)] + bias[static_cast<size_t>(i)] : y;
          ASSERT_NEAR(out[at], y, 1e-4);
        }
      }
    }
  }
}

TEST(GroupNorm, NormalizesGroupsOfChannels) {
  constexpr int64_t kImages = 2, kChannels = 6, kPlane = 35, kGroups = 3;
  constexpr int64_t kCount = kChannels / kGroups * kPlane;
  const auto in = random_values(kImages * kChannels * kPlane, 11);
  const auto weight = random_values(kChannels, 12);
  const auto bias = random_values(kChannels, 13);
  std::vector<float> out(in.size(), kNan), mean(kImages * kGroups), rstd(kImages * kGroups);
  group_norm({kImages, kChannels, kPlane, kGroups, 1e-5f, in.data(), weight.data(), bias.data(),
              out.data(), mean.data(), rstd.data()});
  for (int64_t row = 0; row < kImages * kGroups; ++row) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      sum += in[static_cast<size_t>(row * kCount + i)];
    }
    for (int64_t i = 0; i < kCount; ++i) {
      squares += std::pow(in[static_cast<size_t>(row * kCount + i)] - sum / kCount, 2);
    }
    const double scale = 1 / std::sqrt(squares / kCount + 1e-5);
    EXPECT_NEAR(rstd[static_cast<size_t>(row)], scale, 1e-5);
    for (int64_t i = 0; i < kCount; ++i) {
      const auto at = static_cast<size_t>(row * kCount + i);
      const size_t channel = at / kPlane % kChannels;
      ASSERT_NEAR(out[at], (in[at] - sum / kCount) * scale * weight[channel] + bias[channel], 1e-4);
    }
  }
}

TEST(ScaleChannels, InBothLayouts) {
  constexpr int64_t kImages = 2, kChannels = 5, kPlane = 37;
  const auto in = random_values(kImages * kChannels * kPlane, 8);
  const auto scale = random_values(kChannels, 9);
  const auto shift = random_values(kChannels, 10);
  std::vector<float> out(in.size());
  scale_channels(0, kImages * kChannels, kChannels, kPlane, scale.data(), shift.data(), in.data(),
                 out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t c = i / kPlane % kChannels;
    ASSERT_NEAR(out[i], in[i] * scale[c] + shift[c], 1e-5);
  }
  scale_channels_last(kImages * kPlane, kChannels, scale.data(), shift.data(), in.data(),
                      out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_NEAR(out[i], in[i] * scale[i % kChannels] + shift[i % kChannels], 1e-5);
  }
}

}  // namespace
