// SPDX-License-Identifier: BSD-3-Clause
// The header-only arithmetic under c10/: overflow tests, ranges, bits, complex functions,
// reduced-precision <cmath>.
#include <c10/util/BFloat16-math.h>
#include <c10/util/complex.h>
#include <c10/util/irange.h>
#include <c10/util/llvmMathExtras.h>
#include <c10/util/overflows.h>
#include <c10/util/safe_numerics.h>

#include <executorch/runtime/core/portable_type/bfloat16.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(C10MathTest, OverflowIsTold) {
  uint64_t out = 0;
  EXPECT_FALSE(c10::mul_overflows(uint64_t{1} << 32, uint64_t{1} << 31, &out));
  EXPECT_TRUE(c10::mul_overflows(uint64_t{1} << 32, uint64_t{1} << 32, &out));
  EXPECT_TRUE(c10::add_overflows(UINT64_MAX, uint64_t{1}, &out));
  int64_t signed_out = 0;
  EXPECT_TRUE(c10::mul_overflows<int64_t>(INT64_MIN, -1, &signed_out));
  const std::vector<uint64_t> with_zero{uint64_t{1} << 40, uint64_t{1} << 40, 0};
  EXPECT_FALSE(c10::safe_multiplies_u64(with_zero, &out));
  EXPECT_EQ(out, 0u);
  EXPECT_TRUE((c10::overflows<int8_t, int>(128)));
  EXPECT_FALSE((c10::overflows<int8_t, int>(-128)));
  EXPECT_TRUE((c10::overflows<uint8_t, int>(-1, true)));
  EXPECT_FALSE((c10::overflows<uint8_t, int>(-1)));
  EXPECT_TRUE((c10::overflows<int64_t, double>(9223372036854775808.0)));
  EXPECT_TRUE((c10::overflows<int, double>(NAN)));
  EXPECT_FALSE((c10::overflows<float, double>(INFINITY)));
}

TEST(C10MathTest, Ranges) {
  int sum = 0;
  for (const auto i : c10::irange(4)) {
    sum += i;
  }
  for (const auto i : c10::irange(-3)) {
    sum += 100 + i;
  }
  for (const auto i : c10::irange(2, 5)) {
    sum += 10 * i;
  }
  for (const auto i : c10::irange(5, 2)) {
    sum += 1000 + i;
  }
  EXPECT_EQ(sum, 6 + 90);
}

TEST(C10MathTest, Bits) {
  using namespace c10::llvm;
  EXPECT_EQ(countTrailingZeros(uint32_t{8}), 3u);
  EXPECT_EQ(countTrailingZeros(uint32_t{0}), 32u);
  EXPECT_EQ(countLeadingZeros(uint8_t{1}), 7u);
  EXPECT_EQ(countLeadingOnes(uint8_t{0xE0}), 3u);
  EXPECT_EQ(countPopulation(uint64_t{0xFF00}), 8u);
  EXPECT_EQ(findLastSet(uint32_t{0x90}), 7u);
  EXPECT_EQ(maskTrailingOnes<uint8_t>(3), 7);
  EXPECT_EQ(maskLeadingOnes<uint8_t>(3), 0xE0);
  EXPECT_EQ(reverseBits(uint8_t{1}), 0x80);
  EXPECT_EQ(Log2_64(uint64_t{1} << 40), 40u);
  EXPECT_EQ(Log2_32_Ceil(33), 6u);
  EXPECT_EQ(NextPowerOf2(8), 16u);
  EXPECT_EQ(PowerOf2Ceil(8), 8u);
  EXPECT_EQ(alignTo(13, 8), 16u);
  EXPECT_EQ(alignTo<4>(13), 16u);
  EXPECT_EQ(alignDown(13, 8), 8u);
  EXPECT_EQ(divideCeil(13, 4), 4u);
  EXPECT_EQ(SignExtend32<8>(0xFFu), -1);
  EXPECT_EQ(GreatestCommonDivisor64(12, 18), 6u);
  EXPECT_TRUE(isInt<8>(-128) && !isInt<8>(128) && isUInt<8>(255) && isIntN(4, -8));
  bool overflowed = false;
  EXPECT_EQ(SaturatingAdd<uint8_t>(200, 100, &overflowed), 255);
  EXPECT_TRUE(overflowed);
  EXPECT_EQ(SaturatingMultiplyAdd<uint8_t>(10, 20, 30, &overflowed), 230);
  EXPECT_FALSE(overflowed);
}

TEST(C10MathTest, ComplexFunctions) {
  using C = c10::complex<double>;
  const C z(0.5, -0.25);
  const C back = std::log(std::exp(z));
  EXPECT_NEAR(back.real(), 0.5, 1e-12);
  EXPECT_NEAR(back.imag(), -0.25, 1e-12);
  const C tiny(1e-20, 1e-20);
  EXPECT_NEAR(std::log1p(tiny).real() / 1e-20, 1.0, 1e-9);
  EXPECT_NEAR(std::expm1(tiny).imag() / 1e-20, 1.0, 1e-9);
  const C square = std::pow(z, 2.0);
  EXPECT_NEAR(square.real(), (z * z).real(), 1e-12);
  EXPECT_NEAR(std::sqrt(C(-1, 0)).imag(), 1.0, 1e-12);
}

TEST(C10MathTest, ReducedPrecisionFunctions) {
  const c10::BFloat16 one(1.0f);
  EXPECT_EQ(static_cast<float>(std::exp(c10::Half(0.0f))), 1.0f);
  EXPECT_EQ(static_cast<float>(std::pow(c10::Half(2.0f), c10::Half(3.0f))), 8.0f);
  EXPECT_TRUE(std::isfinite(one));
  EXPECT_EQ(std::nextafter(one, c10::BFloat16(2.0f)).x, one.x + 1);
  EXPECT_EQ(std::nextafter(one, c10::BFloat16(0.0f)).x, one.x - 1);
  EXPECT_EQ(std::nextafter(c10::BFloat16(0.0f), c10::BFloat16(-1.0f)).x, 0x8001);
  namespace bits = executorch::runtime::etensor::internal;
  EXPECT_EQ(bits::round_to_nearest_even(1.00390625f), 0x3F80);  // 1 + 2^-8, half of a step
  EXPECT_EQ(bits::bits_from_f32(1.99f), 0x3FFE);                // cut
  EXPECT_EQ(bits::f32_from_bits(0x3F80), 1.0f);
}

}  // namespace
