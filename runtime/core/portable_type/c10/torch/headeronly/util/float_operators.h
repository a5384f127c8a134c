// SPDX-License-Identifier: BSD-3-Clause
// What the 16-bit floating types share: arithmetic done in float and rounded back, and the limits
// that do not depend on their bits.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>

#include <torch/headeronly/macros/Macros.h>

// C10_INTERNAL_FLOAT16_OPERATORS(Type): +, -, *, / among Type, with float and double (the result is
// theirs), with int and int64_t (the result is Type), the assigning forms, and printing.
#define C10_INTERNAL_FLOAT16_OPERATORS(Type)                                   \
  inline C10_HOST_DEVICE Type operator-(const Type& a) {                       \
    return Type(static_cast<unsigned short>(a.x ^ 0x8000), Type::from_bits()); \
  }                                                                            \
  inline std::ostream& operator<<(std::ostream& out, const Type& value) {      \
    return out << static_cast<float>(value);                                   \
  }                                                                            \
  C10_INTERNAL_FLOAT16_OPERATOR(Type, +)                                       \
  C10_INTERNAL_FLOAT16_OPERATOR(Type, -)                                       \
  C10_INTERNAL_FLOAT16_OPERATOR(Type, *)                                       \
  C10_INTERNAL_FLOAT16_OPERATOR(Type, /)

#define C10_INTERNAL_FLOAT16_OPERATOR(Type, op)                            \
  inline C10_HOST_DEVICE Type operator op(const Type& a, const Type& b) {  \
    return static_cast<float>(a) op static_cast<float>(b);                 \
  }                                                                        \
  inline C10_HOST_DEVICE Type& operator op##=(Type & a, const Type & b) {  \
    a = a op b;                                                            \
    return a;                                                              \
  }                                                                        \
  inline C10_HOST_DEVICE float operator op(Type a, float b) {              \
    return static_cast<float>(a) op b;                                     \
  }                                                                        \
  inline C10_HOST_DEVICE float operator op(float a, Type b) {              \
    return a op static_cast<float>(b);                                     \
  }                                                                        \
  inline C10_HOST_DEVICE float& operator op##=(float& a, const Type & b) { \
    return a = a op static_cast<float>(b);                                 \
  }                                                                        \
  inline C10_HOST_DEVICE double operator op(Type a, double b) {            \
    return static_cast<double>(a) op b;                                    \
  }                                                                        \
  inline C10_HOST_DEVICE double operator op(double a, Type b) {            \
    return a op static_cast<double>(b);                                    \
  }                                                                        \
  inline C10_HOST_DEVICE Type operator op(Type a, int b) {                 \
    return a op static_cast<Type>(b);                                      \
  }                                                                        \
  inline C10_HOST_DEVICE Type operator op(int a, Type b) {                 \
    return static_cast<Type>(a) op b;                                      \
  }                                                                        \
  inline C10_HOST_DEVICE Type operator op(Type a, int64_t b) {             \
    return a op static_cast<Type>(b);                                      \
  }                                                                        \
  inline C10_HOST_DEVICE Type operator op(int64_t a, Type b) {             \
    return static_cast<Type>(a) op b;                                      \
  }

namespace c10 {
namespace detail {

/// The part of std::numeric_limits that is the same for both types.
struct Float16Limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr auto has_denorm = std::numeric_limits<float>::has_denorm;
  static constexpr auto has_denorm_loss = std::numeric_limits<float>::has_denorm_loss;
  static constexpr auto round_style = std::numeric_limits<float>::round_style;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr auto traps = std::numeric_limits<float>::traps;
  static constexpr auto tinyness_before = std::numeric_limits<float>::tinyness_before;
  static constexpr int radix = 2;
};

}  // namespace detail
}  // namespace c10
