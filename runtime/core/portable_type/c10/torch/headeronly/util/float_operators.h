// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of the 16-bit floating types, written once: every operation is done in float and
// rounded back.
#pragma once

#include <cstdint>

// ET_C10_FLOAT_OPERATORS(Type): +, -, *, / among Type, with float, double, int and int64_t, and the
// assigning forms.
#define ET_C10_FLOAT_OPERATORS(Type)     \
  inline Type operator-(const Type& a) { \
    return Type(-static_cast<float>(a)); \
  }                                      \
  ET_C10_FLOAT_OPERATOR(Type, +)         \
  ET_C10_FLOAT_OPERATOR(Type, -)         \
  ET_C10_FLOAT_OPERATOR(Type, *)         \
  ET_C10_FLOAT_OPERATOR(Type, /)

#define ET_C10_FLOAT_OPERATOR(Type, op)                          \
  inline Type operator op(const Type& a, const Type& b) {        \
    return Type(static_cast<float>(a) op static_cast<float>(b)); \
  }                                                              \
  inline float operator op(Type a, float b) {                    \
    return static_cast<float>(a) op b;                           \
  }                                                              \
  inline float operator op(float a, Type b) {                    \
    return a op static_cast<float>(b);                           \
  }                                                              \
  inline double operator op(Type a, double b) {                  \
    return static_cast<double>(static_cast<float>(a)) op b;      \
  }                                                              \
  inline double operator op(double a, Type b) {                  \
    return a op static_cast<double>(static_cast<float>(b));      \
  }                                                              \
  inline Type operator op(Type a, int b) {                       \
    return a op Type(static_cast<float>(b));                     \
  }                                                              \
  inline Type operator op(int a, Type b) {                       \
    return Type(static_cast<float>(a)) op b;                     \
  }                                                              \
  inline Type operator op(Type a, int64_t b) {                   \
    return a op Type(static_cast<float>(b));                     \
  }                                                              \
  inline Type operator op(int64_t a, Type b) {                   \
    return Type(static_cast<float>(a)) op b;                     \
  }                                                              \
  inline Type& operator op##=(Type & a, const Type & b) {        \
    a = a op b;                                                  \
    return a;                                                    \
  }                                                              \
  inline float& operator op##=(float& a, const Type & b) {       \
    a = a op static_cast<float>(b);                              \
    return a;                                                    \
  }

// ET_C10_FLOAT_LIMITS(Type, digits, ...): std::numeric_limits from bit patterns.
#define ET_C10_FLOAT_LIMITS(Type, kDigits, kDigits10, kMaxDigits10, kMinExp, kMinExp10, kMaxExp, \
                            kMaxExp10, kMin, kLowest, kMax, kEps, kInf, kNan, kSnan, kDenorm)    \
  template <>                                                                                    \
  class numeric_limits<Type> {                                                                   \
   public:                                                                                       \
    static constexpr bool is_specialized = true;                                                 \
    static constexpr bool is_signed = true;                                                      \
    static constexpr bool is_integer = false;                                                    \
    static constexpr bool is_exact = false;                                                      \
    static constexpr bool has_infinity = true;                                                   \
    static constexpr bool has_quiet_NaN = true;                                                  \
    static constexpr bool has_signaling_NaN = true;                                              \
    static constexpr auto has_denorm = numeric_limits<float>::has_denorm;                        \
    static constexpr auto has_denorm_loss = numeric_limits<float>::has_denorm_loss;              \
    static constexpr auto round_style = numeric_limits<float>::round_style;                      \
    static constexpr bool is_iec559 = numeric_limits<float>::is_iec559;                          \
    static constexpr bool is_bounded = true;                                                     \
    static constexpr bool is_modulo = false;                                                     \
    static constexpr int digits = kDigits;                                                       \
    static constexpr int digits10 = kDigits10;                                                   \
    static constexpr int max_digits10 = kMaxDigits10;                                            \
    static constexpr int radix = 2;                                                              \
    static constexpr int min_exponent = kMinExp;                                                 \
    static constexpr int min_exponent10 = kMinExp10;                                             \
    static constexpr int max_exponent = kMaxExp;                                                 \
    static constexpr int max_exponent10 = kMaxExp10;                                             \
    static constexpr auto traps = numeric_limits<float>::traps;                                  \
    static constexpr auto tinyness_before = numeric_limits<float>::tinyness_before;              \
    static constexpr Type min() {                                                                \
      return Type(kMin, Type::from_bits());                                                      \
    }                                                                                            \
    static constexpr Type lowest() {                                                             \
      return Type(kLowest, Type::from_bits());                                                   \
    }                                                                                            \
    static constexpr Type max() {                                                                \
      return Type(kMax, Type::from_bits());                                                      \
    }                                                                                            \
    static constexpr Type epsilon() {                                                            \
      return Type(kEps, Type::from_bits());                                                      \
    }                                                                                            \
    static constexpr Type round_error() {                                                        \
      return Type(kRoundError_##kDigits, Type::from_bits());                                     \
    }                                                                                            \
    static constexpr Type infinity() {                                                           \
      return Type(kInf, Type::from_bits());                                                      \
    }                                                                                            \
    static constexpr Type quiet_NaN() {                                                          \
      return Type(kNan, Type::from_bits());                                                      \
    }                                                                                            \
    static constexpr Type signaling_NaN() {                                                      \
      return Type(kSnan, Type::from_bits());                                                     \
    }                                                                                            \
    static constexpr Type denorm_min() {                                                         \
      return Type(kDenorm, Type::from_bits());                                                   \
    }                                                                                            \
    static constexpr unsigned short kRoundError_8 = 0x3F00;                                      \
    static constexpr unsigned short kRoundError_11 = 0x3800;                                     \
  };
