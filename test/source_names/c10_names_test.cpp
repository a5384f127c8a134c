// SPDX-License-Identifier: BSD-3-Clause
// Names of PyTorch's header-only part that kernels use, and which headers bring them.
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
// After others, as users do.
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/BFloat16-inl.h>
#include <c10/util/Half-inl.h>
#include <executorch/codegen/macros.h>
#include <torch/headeronly/util/BFloat16-inl.h>
#include <torch/headeronly/util/Half-inl.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#ifndef TORCH_API
#error "codegen/macros.h defines it"
#endif

HIDDEN_NAMESPACE_BEGIN(users, own)
TORCH_API inline int answer() {
  return 42;
}
HIDDEN_NAMESPACE_END(users, own)
HIDDEN_NAMESPACE_BEGIN(other)
constexpr int kOther = 7;
HIDDEN_NAMESPACE_END(other)

namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;

TEST(C10NamesTest, ReducedFloatingPoint) {
  static_assert(c10::is_reduced_floating_point_v<c10::Half>);
  static_assert(c10::is_reduced_floating_point_v<BFloat16>);
  static_assert(!c10::is_reduced_floating_point_v<float>);
  static_assert(c10::is_reduced_floating_point<Half>::value);
  static_assert(std::is_reduced_floating_point_v<Half>);
  EXPECT_EQ(std::exp(Half(0.0f)), Half(1.0f));
  EXPECT_EQ(static_cast<float>(std::abs(BFloat16(-2.0f))), 2.0f);
}

TEST(C10NamesTest, ComplexFunctionsAreGlobalAndInStd) {
  const c10::complex<double> i(0.0, 1.0);
  EXPECT_NEAR(std::exp(i * M_PI).real(), -1.0, 1e-12);
  EXPECT_NEAR(::sqrt(c10::complex<double>(-4.0, 0.0)).imag(), 2.0, 1e-12);
  EXPECT_NEAR(c10_complex_math::pow(i, 2.0).real(), -1.0, 1e-12);
  static_assert(c10::is_complex<executorch::aten::complex<float>>::value);
  static_assert(std::is_same_v<c10::scalar_value_type<c10::complex<float>>::type, float>);
}

TEST(C10NamesTest, RangesAndOverflowComeWithTheCore) {
  std::vector<int64_t> found;
  for (const auto i : c10::irange(int64_t{3})) {
    found.push_back(i);
  }
  EXPECT_EQ(found, (std::vector<int64_t>{0, 1, 2}));
  for (const auto i : c10::irange(-1)) {
    FAIL() << i;
  }
  for (const auto i : c10::irange(5, 2)) {
    FAIL() << i;
  }
  uint64_t product = 0;
  EXPECT_TRUE(c10::mul_overflows(uint64_t{1} << 40, uint64_t{1} << 40, &product));
  EXPECT_FALSE(c10::mul_overflows(uint64_t{6}, uint64_t{7}, &product));
  EXPECT_EQ(product, 42u);
}

TEST(C10NamesTest, Macros) {
  EXPECT_EQ(users::own::answer(), 42);
  EXPECT_EQ(other::kOther, 7);
  C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-variable")
  C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wno-such-warning-anywhere")
  const int unused = 1;
  C10_DIAGNOSTIC_POP()
  C10_DIAGNOSTIC_POP()
  if C10_LIKELY (true) {
    SUCCEED();
  }
  if ET_UNLIKELY (C10_ASAN_ENABLED != 0 && C10_ASAN_ENABLED != 1) {
    FAIL();
  }
  EXPECT_TRUE(C10_UBSAN_ENABLED == 0 || C10_UBSAN_ENABLED == 1);
}

TEST(C10NamesTest, PromotionTableAndItsConstants) {
  using namespace executorch::runtime::internal;
  EXPECT_EQ(NUM_PROMOTE_TYPES, 13);
  EXPECT_EQ(index2dtype[0], u1);
  EXPECT_EQ(index2dtype[11], b1);
  EXPECT_EQ(index2dtype[12], bf);
  for (int i = 0; i < NUM_PROMOTE_TYPES; ++i) {
    EXPECT_EQ(dtype2index[static_cast<int>(index2dtype[i])], i);
    EXPECT_EQ(promoteTypesLookup[i][i], index2dtype[i]);
  }
  EXPECT_EQ(dtype2index[static_cast<int>(ScalarType::QInt8)], -1);
  EXPECT_EQ(dtype2index[static_cast<int>(ScalarType::UInt64)], -1);
  // Byte with Char is Short.
  EXPECT_EQ(promoteTypesLookup[0][1], i2);
  static_assert(std::is_same_v<F2, Half> && std::is_same_v<C8, c10::complex<double>>);
  // To an integer by way of int64_t: 300 wraps to 44 instead of being undefined.
  EXPECT_EQ((torch::executor::convert<uint8_t, float>(300.0f)), 44);
  EXPECT_EQ((torch::executor::convert<bool, float>(0.5f)), true);
  EXPECT_EQ((torch::executor::convert<int8_t, Half>(Half(-3.5f))), -3);
}

}  // namespace
