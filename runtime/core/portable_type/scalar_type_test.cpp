// SPDX-License-Identifier: BSD-3-Clause
// The table of scalar types: numbers, sizes, classes, promotion; the type sets, the switch macros
// and dtype dispatch.
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

using executorch::aten::ScalarType;
using executorch::runtime::Error;

namespace executorch {
namespace runtime {
namespace {

constexpr int kCount = static_cast<int>(ScalarType::Undefined);

ScalarType type(int number) {
  return static_cast<ScalarType>(number);
}

struct Expected {
  const char* name;
  size_t size;
};
// Section 3 of the format: numbers, names and bytes never change.
constexpr Expected kExpected[] = {{"Byte", 1},
                                  {"Char", 1},
                                  {"Short", 2},
                                  {"Int", 4},
                                  {"Long", 8},
                                  {"Half", 2},
                                  {"Float", 4},
                                  {"Double", 8},
                                  {"ComplexHalf", 4},
                                  {"ComplexFloat", 8},
                                  {"ComplexDouble", 16},
                                  {"Bool", 1},
                                  {"QInt8", 1},
                                  {"QUInt8", 1},
                                  {"QInt32", 4},
                                  {"BFloat16", 2},
                                  {"QUInt4x2", 1},
                                  {"QUInt2x4", 1},
                                  {"Bits1x8", 1},
                                  {"Bits2x4", 1},
                                  {"Bits4x2", 1},
                                  {"Bits8", 1},
                                  {"Bits16", 2},
                                  {"Float8_e5m2", 1},
                                  {"Float8_e4m3fn", 1},
                                  {"Float8_e5m2fnuz", 1},
                                  {"Float8_e4m3fnuz", 1},
                                  {"UInt16", 2},
                                  {"UInt32", 4},
                                  {"UInt64", 8}};

TEST(ScalarTypeTest, NumbersNamesAndSizes) {
  ASSERT_EQ(std::size(kExpected), static_cast<size_t>(kCount));
  for (int i = 0; i < kCount; ++i) {
    EXPECT_STREQ(toString(type(i)), kExpected[i].name);
    EXPECT_EQ(elementSize(type(i)), kExpected[i].size) << kExpected[i].name;
    EXPECT_TRUE(isValid(type(i)));
  }
  for (const int invalid : {-128, -1, 30, 31, 32, 127}) {
    EXPECT_FALSE(isValid(type(invalid)));
    EXPECT_DEATH((void)elementSize(type(invalid)), "");
  }
  EXPECT_STREQ(toString(type(-1)), "UNKNOWN_SCALAR");
}

TEST(ScalarTypeTest, EveryTypeIsInOneClass) {
  for (int i = 0; i < kCount; ++i) {
    const ScalarType t = type(i);
    EXPECT_EQ(isIntegralType(t, true) + isFloatingType(t) + isComplexType(t) + isQIntType(t) +
                  isBitsType(t) + isFloat8Type(t) + isBarebonesUnsignedType(t),
              1)
        << toString(t);
  }
  for (const int invalid : {-1, 30, 31, 100}) {
    EXPECT_FALSE(isIntegralType(type(invalid), true) || isFloatingType(type(invalid)));
  }
  EXPECT_FALSE(isIntegralType(ScalarType::Bool, false));
  EXPECT_TRUE(isBitsType(ScalarType::Bits16));
  EXPECT_FALSE(isRealType(ScalarType::Half));
  EXPECT_TRUE(isRealHBBF16Type(ScalarType::Bool));
  for (const ScalarType t :
       {ScalarType::Char, ScalarType::Half, ScalarType::ComplexFloat, ScalarType::Float8_e4m3fn}) {
    EXPECT_TRUE(isSignedType(t)) << toString(t);
  }
  for (const ScalarType t : {ScalarType::Byte, ScalarType::Bool, ScalarType::UInt32}) {
    EXPECT_FALSE(isSignedType(t)) << toString(t);
  }
}

TEST(ScalarTypeTest, PromotionIsSymmetricAndWidens) {
  EXPECT_EQ(promoteTypes(ScalarType::Byte, ScalarType::Char), ScalarType::Short);
  EXPECT_EQ(promoteTypes(ScalarType::Long, ScalarType::Half), ScalarType::Half);
  EXPECT_EQ(promoteTypes(ScalarType::Half, ScalarType::BFloat16), ScalarType::Float);
  EXPECT_EQ(promoteTypes(ScalarType::Bool, ScalarType::Byte), ScalarType::Byte);
  EXPECT_EQ(promoteTypes(ScalarType::ComplexHalf, ScalarType::Float), ScalarType::ComplexFloat);
  EXPECT_EQ(promoteTypes(ScalarType::ComplexFloat, ScalarType::Double), ScalarType::ComplexDouble);
  EXPECT_EQ(promoteTypes(ScalarType::Half, ScalarType::Half, true), ScalarType::Float);
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < 16; ++b) {
      const auto result = internal::promote_or_undefined(type(a), type(b));
      EXPECT_EQ(result, internal::promote_or_undefined(type(b), type(a)));
      if (a != b && isValid(result)) {
        // What holds both, holds the result.
        EXPECT_EQ(internal::promote_or_undefined(result, type(a)), result);
      }
    }
  }
  for (const ScalarType t : {ScalarType::QInt8, ScalarType::Bits8, ScalarType::UInt16}) {
    EXPECT_EQ(promoteTypes(t, t), t);
    EXPECT_DEATH((void)promoteTypes(t, ScalarType::Float), "");
  }
  static_assert(std::is_same_v<promote_types<uint8_t, int8_t>::type, int16_t>);
  static_assert(std::is_same_v<promote_types<bool, float>::type, float>);
}

TEST(ScalarTypeTest, CastsThatLoseTheKindAreRefused) {
  EXPECT_TRUE(canCast(ScalarType::Int, ScalarType::Float));
  EXPECT_FALSE(canCast(ScalarType::Float, ScalarType::Int));
  EXPECT_FALSE(canCast(ScalarType::Int, ScalarType::Bool));
  EXPECT_TRUE(canCast(ScalarType::Bool, ScalarType::Int));
  EXPECT_FALSE(canCast(ScalarType::ComplexFloat, ScalarType::Float));
  static_assert(can_cast<float, double>::value && !can_cast<float, int>::value);
}

TEST(ScalarTypeTest, RelatedTypes) {
  EXPECT_EQ(toQIntType(ScalarType::Byte), ScalarType::QUInt8);
  EXPECT_EQ(toUnderlying(ScalarType::QUInt4x2), ScalarType::Byte);
  EXPECT_TRUE(isUnderlying(ScalarType::Int, ScalarType::QInt32));
  EXPECT_EQ(toComplexType(ScalarType::Double), ScalarType::ComplexDouble);
  EXPECT_EQ(toRealValueType(ScalarType::ComplexHalf), ScalarType::Half);
}

#define COUNT_NAME(ctype, name) names.insert(#name);
#define COUNT_WITH(prefix, ctype, name) names.insert(prefix #name);
#define COUNT_WITH2(a, b, ctype, name) names.insert(a b #name);

TEST(TypeSetTest, ForAllMacrosNameTheirTypes) {
  std::set<std::string> names;
  ET_FORALL_REALHBBF16_TYPES(COUNT_NAME)
  EXPECT_EQ(names, (std::set<std::string>{"Byte", "Char", "Short", "Int", "Long", "Float", "Double",
                                          "Half", "Bool", "BFloat16"}));
  names.clear();
  ET_FORALL_INT_TYPES_WITH("x", COUNT_WITH)
  EXPECT_EQ(names, (std::set<std::string>{"xByte", "xChar", "xShort", "xInt", "xLong"}));
  names.clear();
  ET_FORALL_FLOAT_TYPES_WITH2("x", "y", COUNT_WITH2)
  EXPECT_EQ(names, (std::set<std::string>{"xyFloat", "xyDouble"}));
  names.clear();
  ET_FORALL_FLOAT_TYPES_AND2(Half, Bool, COUNT_NAME)
  EXPECT_EQ(names, (std::set<std::string>{"Float", "Double", "Half", "Bool"}));
  names.clear();
  ET_FORALL_SCALAR_TYPES(COUNT_NAME)
  EXPECT_EQ(names.size(), static_cast<size_t>(kCount));
}

struct Context {
  Error error = Error::Ok;
  void fail(Error e) { error = e; }
};

size_t switch_real(Context& ctx, ScalarType dtype) {
  static constexpr const char op_name[] = "test.out";
  return ET_SWITCH_REAL_TYPES(dtype, ctx, op_name, CTYPE, [&]() { return sizeof(CTYPE); });
}

TEST(TypeSetTest, SwitchGivesTheTypeOrFailsTheContext) {
  Context ctx;
  EXPECT_EQ(switch_real(ctx, ScalarType::Short), 2u);
  EXPECT_EQ(switch_real(ctx, ScalarType::Double), 8u);
  EXPECT_EQ(ctx.error, Error::Ok);
  EXPECT_EQ(switch_real(ctx, ScalarType::Half), 0u);
  EXPECT_EQ(ctx.error, Error::InvalidArgument);
}

TEST(TypeSetTest, SwitchesNestAndTakeExtraTypes) {
  Context ctx;
  int runs = 0;
  ET_SWITCH_FLOAT_TYPES_AND(Bool, ScalarType::Bool, ctx, "outer", A, [&]() {
    ET_SWITCH_TWO_TYPES(Int, Long, ScalarType::Long, ctx, "inner", B, [&]() {
      static_assert(std::is_same_v<B, int32_t> || std::is_same_v<B, int64_t>);
      runs += static_cast<int>(sizeof(A) * 100 + sizeof(B));
    });
  });
  EXPECT_EQ(runs, 108);
  EXPECT_EQ(ctx.error, Error::Ok);
  for (int i = 0; i < kCount; ++i) {
    const size_t size = ET_SWITCH_ALL_TYPES(type(i), ctx, "all", T, [&]() { return sizeof(T); });
    // Bits and float8 types come as the bytes they are.
    EXPECT_EQ(size, isFloat8Type(type(i)) ? 0u : elementSize(type(i)));
  }
}

TEST(DtypeDispatchTest, AcceptsExactlyItsSet) {
  for (int i = -2; i < 40; ++i) {
    const ScalarType t = type(i);
    const auto accepts = [&](auto&& dispatch) {
      bool is_called = false;
      const bool result = dispatch(t, [&](auto tag) {
        is_called = true;
        EXPECT_EQ(decltype(tag)::value, t);
        EXPECT_EQ(sizeof(typename decltype(tag)::type), elementSize(t));
      });
      EXPECT_EQ(is_called, result);
      return result;
    };
#define ACCEPTS(function) accepts([](auto... args) { return function(args...); })
    EXPECT_EQ(ACCEPTS(dispatch_integral), isIntegralType(t, false));
    EXPECT_EQ(ACCEPTS(dispatch_real), isRealType(t));
    EXPECT_EQ(ACCEPTS(dispatch_real_h), isRealHType(t));
    EXPECT_EQ(ACCEPTS(dispatch_real_hb), isRealHBType(t));
    EXPECT_EQ(ACCEPTS(dispatch_real_h_bf16), isRealHBF16Type(t));
    EXPECT_EQ(ACCEPTS(dispatch_real_hb_bf16), isRealHBBF16Type(t));
    EXPECT_EQ(ACCEPTS(dispatch_float_h_bf16), isFloatingType(t));
    EXPECT_EQ(ACCEPTS(dispatch_complex_h), isComplexType(t));
    EXPECT_EQ(ACCEPTS(dispatch_qint), isQIntType(t));
    size_t size = 0;
    const auto by_size = [&](auto tag) { size = sizeof(typename decltype(tag)::type); };
    EXPECT_EQ(dispatch_by_element_size(t, by_size), isValid(t));
    EXPECT_EQ(size, isValid(t) ? elementSize(t) : 0);
  }
}

}  // namespace
}  // namespace runtime
}  // namespace executorch
