// SPDX-License-Identifier: BSD-3-Clause
// BFloat16: the upper half of a float, as a number that computes in float.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>

namespace c10 {
namespace detail {

inline C10_HOST_DEVICE float f32_from_bits(uint16_t src) {
  return bit_cast<float>(static_cast<uint32_t>(src) << 16);
}

/// Truncates.
inline C10_HOST_DEVICE uint16_t bits_from_f32(float src) {
  return static_cast<uint16_t>(bit_cast<uint32_t>(src) >> 16);
}

/// The nearest, ties to even; every NaN becomes 0x7FC0.
inline C10_HOST_DEVICE uint16_t round_to_nearest_even(float src) {
  const uint32_t bits = bit_cast<uint32_t>(src);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return 0x7FC0;
  }
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

struct alignas(2) BFloat16 {
  uint16_t x;

  struct from_bits_t {};
  static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return from_bits_t(); }

  BFloat16() = default;
  constexpr C10_HOST_DEVICE BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
  inline C10_HOST_DEVICE BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  inline C10_HOST_DEVICE operator float() const { return detail::f32_from_bits(x); }
};

inline C10_HOST_DEVICE BFloat16 operator+(const BFloat16& a, const BFloat16& b) {
  return static_cast<float>(a) + static_cast<float>(b);
}
inline C10_HOST_DEVICE BFloat16& operator+=(BFloat16& a, const BFloat16& b) {
  a = a + b;
  return a;
}
inline C10_HOST_DEVICE BFloat16 operator-(const BFloat16& a, const BFloat16& b) {
  return static_cast<float>(a) - static_cast<float>(b);
}
inline C10_HOST_DEVICE BFloat16& operator-=(BFloat16& a, const BFloat16& b) {
  a = a - b;
  return a;
}
inline C10_HOST_DEVICE BFloat16 operator*(const BFloat16& a, const BFloat16& b) {
  return static_cast<float>(a) * static_cast<float>(b);
}
inline C10_HOST_DEVICE BFloat16& operator*=(BFloat16& a, const BFloat16& b) {
  a = a * b;
  return a;
}
inline C10_HOST_DEVICE BFloat16 operator/(const BFloat16& a, const BFloat16& b) {
  return static_cast<float>(a) / static_cast<float>(b);
}
inline C10_HOST_DEVICE BFloat16& operator/=(BFloat16& a, const BFloat16& b) {
  a = a / b;
  return a;
}
inline C10_HOST_DEVICE BFloat16 operator-(const BFloat16& a) {
  return BFloat16(static_cast<unsigned short>(a.x ^ 0x8000), BFloat16::from_bits());
}
// With float and double the result is theirs; with integers it is BFloat16.
#define C10_INTERNAL_MIXED_OPERATOR(op)                                        \
  inline C10_HOST_DEVICE float operator op(BFloat16 a, float b) {              \
    return static_cast<float>(a) op b;                                         \
  }                                                                            \
  inline C10_HOST_DEVICE float operator op(float a, BFloat16 b) {              \
    return a op static_cast<float>(b);                                         \
  }                                                                            \
  inline C10_HOST_DEVICE float& operator op##=(float& a, const BFloat16 & b) { \
    return a op## = static_cast<float>(b);                                     \
  }                                                                            \
  inline C10_HOST_DEVICE double operator op(BFloat16 a, double b) {            \
    return static_cast<double>(a) op b;                                        \
  }                                                                            \
  inline C10_HOST_DEVICE double operator op(double a, BFloat16 b) {            \
    return a op static_cast<double>(b);                                        \
  }                                                                            \
  inline C10_HOST_DEVICE BFloat16 operator op(BFloat16 a, int b) {             \
    return a op static_cast<BFloat16>(b);                                      \
  }                                                                            \
  inline C10_HOST_DEVICE BFloat16 operator op(int a, BFloat16 b) {             \
    return static_cast<BFloat16>(a) op b;                                      \
  }                                                                            \
  inline C10_HOST_DEVICE BFloat16 operator op(BFloat16 a, int64_t b) {         \
    return a op static_cast<BFloat16>(b);                                      \
  }                                                                            \
  inline C10_HOST_DEVICE BFloat16 operator op(int64_t a, BFloat16 b) {         \
    return static_cast<BFloat16>(a) op b;                                      \
  }
C10_INTERNAL_MIXED_OPERATOR(+)
C10_INTERNAL_MIXED_OPERATOR(-)
C10_INTERNAL_MIXED_OPERATOR(*)
C10_INTERNAL_MIXED_OPERATOR(/)
#undef C10_INTERNAL_MIXED_OPERATOR

// Bitwise, on the representation.
inline C10_HOST_DEVICE BFloat16& operator|(BFloat16& a, const BFloat16& b) {
  a.x |= b.x;
  return a;
}
inline C10_HOST_DEVICE BFloat16& operator^(BFloat16& a, const BFloat16& b) {
  a.x ^= b.x;
  return a;
}
inline C10_HOST_DEVICE BFloat16& operator&(BFloat16& a, const BFloat16& b) {
  a.x &= b.x;
  return a;
}

inline C10_HOST_DEVICE bool operator>(BFloat16& lhs, BFloat16& rhs) {
  return float(lhs) > float(rhs);
}
inline C10_HOST_DEVICE bool operator<(BFloat16& lhs, BFloat16& rhs) {
  return float(lhs) < float(rhs);
}

inline std::ostream& operator<<(std::ostream& out, const BFloat16& value) {
  return out << static_cast<float>(value);
}

}  // namespace c10

namespace std {

template <>
class numeric_limits<c10::BFloat16> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr auto has_denorm = numeric_limits<float>::has_denorm;
  static constexpr auto has_denorm_loss = numeric_limits<float>::has_denorm_loss;
  static constexpr auto round_style = numeric_limits<float>::round_style;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr auto traps = numeric_limits<float>::traps;
  static constexpr auto tinyness_before = numeric_limits<float>::tinyness_before;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;

  static constexpr c10::BFloat16 min() {
    return c10::BFloat16(static_cast<unsigned short>(0x0080), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 lowest() {
    return c10::BFloat16(static_cast<unsigned short>(0xFF7F), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 max() {
    return c10::BFloat16(static_cast<unsigned short>(0x7F7F), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 epsilon() {
    return c10::BFloat16(static_cast<unsigned short>(0x3C00), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 round_error() {
    return c10::BFloat16(static_cast<unsigned short>(0x3F00), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 infinity() {
    return c10::BFloat16(static_cast<unsigned short>(0x7F80), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 quiet_NaN() {
    return c10::BFloat16(static_cast<unsigned short>(0x7FC0), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 signaling_NaN() {
    return c10::BFloat16(static_cast<unsigned short>(0x7F81), c10::BFloat16::from_bits());
  }
  static constexpr c10::BFloat16 denorm_min() {
    return c10::BFloat16(static_cast<unsigned short>(0x0001), c10::BFloat16::from_bits());
  }
};

}  // namespace std
