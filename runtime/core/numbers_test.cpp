// SPDX-License-Identifier: BSD-3-Clause
// Half, BFloat16, complex and Tag, against arithmetic written out here.
#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/complex.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/tag.h>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using executorch::runtime::kTagNameBufferSize;
using executorch::runtime::Tag;
using executorch::runtime::tag_to_string;

namespace {

// The value of a binary16 from its fields: (-1)^s 2^(e-15) (1 + m/1024), subnormals 2^-14 (m/1024).
float half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const float fraction = static_cast<float>(bits & 1023) / 1024.0f;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -14)
                       : sign * std::ldexp(1.0f + fraction, exponent - 15);
}

TEST(HalfTest, EveryBitPatternHasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const c10::Half half(static_cast<uint16_t>(bits), c10::Half::from_bits());
    const float expected = half_value(static_cast<uint16_t>(bits));
    const float value = half;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(c10::Half(value)))) << bits;
      continue;
    }
    ASSERT_EQ(value, expected) << bits;
    ASSERT_EQ(c10::Half(value).x, bits) << bits;
  }
}

TEST(HalfTest, RoundsHalfToEven) {
  EXPECT_EQ(c10::Half(1.0f + 1.0f / 2048).x, 0x3C00);  // half way to the odd neighbour: stays
  EXPECT_EQ(c10::Half(1.0f + 3.0f / 2048).x, 0x3C02);  // half way between odd and even: goes up
  EXPECT_EQ(c10::Half(65504.0f).x, 0x7BFF);
  EXPECT_EQ(c10::Half(65519.9f).x, 0x7BFF);
  EXPECT_EQ(c10::Half(65520.0f).x, 0x7C00);
  EXPECT_EQ(c10::Half(std::ldexp(1.0f, -25)).x,
            0x0000);  // half of the smallest subnormal, tie to even
  EXPECT_EQ(c10::Half(std::ldexp(1.5f, -25)).x, 0x0001);
}

TEST(BFloat16Test, IsTheUpperHalfOfAFloatRoundedToEven) {
  EXPECT_EQ(c10::BFloat16(1.0f).x, 0x3F80);
  EXPECT_EQ(c10::BFloat16(1.0f + 1.0f / 256).x, 0x3F80);  // tie, even stays
  EXPECT_EQ(c10::BFloat16(1.0f + 3.0f / 256).x, 0x3F82);  // tie, odd goes up
  EXPECT_TRUE(std::isnan(static_cast<float>(c10::BFloat16(NAN))));
  EXPECT_EQ(static_cast<float>(c10::BFloat16(0x4049, c10::BFloat16::from_bits())), 3.140625f);
  EXPECT_EQ(static_cast<float>(c10::BFloat16(1.5f) + c10::BFloat16(2.0f)), 3.5f);
}

TEST(NumericLimitsTest, NameTheRightBitPatterns) {
  EXPECT_EQ(static_cast<float>(std::numeric_limits<c10::Half>::max()), 65504.0f);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<c10::Half>::lowest()), -65504.0f);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<c10::Half>::epsilon()), 1.0f / 1024);
  EXPECT_TRUE(std::isinf(static_cast<float>(std::numeric_limits<c10::BFloat16>::infinity())));
  EXPECT_EQ(static_cast<float>(std::numeric_limits<c10::BFloat16>::epsilon()), 1.0f / 128);
}

TEST(ComplexTest, MultipliesAndDivides) {
  const c10::complex<double> a(1, 2);
  const c10::complex<double> b(3, -4);
  const auto product = a * b;  // (1+2i)(3-4i) = 3 - 4i + 6i + 8 = 11 + 2i
  EXPECT_EQ(product.real(), 11);
  EXPECT_EQ(product.imag(), 2);
  const auto quotient = a / b;  // (1+2i)(3+4i)/25 = (-5 + 10i)/25
  EXPECT_DOUBLE_EQ(quotient.real(), -0.2);
  EXPECT_DOUBLE_EQ(quotient.imag(), 0.4);
}

TEST(TagTest, NamesFitTheBufferAndAreCut) {
  char buffer[kTagNameBufferSize];
  EXPECT_EQ(tag_to_string(Tag::ListOptionalTensor, buffer, sizeof(buffer)), 18u);
  EXPECT_STREQ(buffer, "ListOptionalTensor");
  EXPECT_EQ(tag_to_string(Tag::ListOptionalTensor, buffer, 5), 18u);
  EXPECT_STREQ(buffer, "List");
  EXPECT_EQ(tag_to_string(static_cast<Tag>(99), buffer, sizeof(buffer)), 7u);
  EXPECT_STREQ(buffer, "Unknown");
  EXPECT_STREQ(tag_to_string(Tag::Int), "Int");
  static_assert(static_cast<uint32_t>(Tag::ListOptionalTensor) == 11);
}

}  // namespace
