// SPDX-License-Identifier: BSD-3-Clause
// BFloat16: the upper half of a float, as a number that computes in float.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>
#include <torch/headeronly/util/float_operators.h>

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

C10_INTERNAL_FLOAT16_OPERATORS(BFloat16)

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

}  // namespace c10

namespace std {

template <>
class numeric_limits<c10::BFloat16> : public c10::detail::Float16Limits {
 public:
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
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
