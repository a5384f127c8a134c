// SPDX-License-Identifier: BSD-3-Clause
// Half: IEEE 754 binary16 as a number that computes in float.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>
#include <torch/headeronly/util/float_operators.h>
#include <torch/headeronly/util/floating_point_utils.h>

#if defined(__F16C__) && !defined(C10_X86_F16)
#define C10_X86_F16 1
#include <immintrin.h>
#endif

namespace c10 {
namespace detail {

/// The float's bits of a half's bits; exact.
inline uint32_t fp16_ieee_to_fp32_bits(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7FFFu) << 13;
  if (magnitude >= 0x0F800000u) {  // Infinity, NaN: exponent all ones.
    return sign | 0x70000000u | magnitude;
  }
  if (magnitude >= 0x00800000u) {  // Normal: exponent bias 15 becomes 127.
    return sign | (magnitude + ((127u - 15u) << 23));
  }
  // Zero and subnormals: magnitude * 2^-24 in the float's arithmetic.
  const float value = static_cast<float>(h & 0x7FFFu) * 5.9604644775390625e-08f;
  return sign | fp32_to_bits(value);
}

inline C10_HOST_DEVICE float fp16_ieee_to_fp32_value(uint16_t h) {
#if defined(C10_X86_F16)
  return _cvtsh_ss(h);
#elif defined(__aarch64__) || defined(__ARM_FP16_FORMAT_IEEE)
  return static_cast<float>(bit_cast<__fp16>(h));
#else
  return fp32_from_bits(fp16_ieee_to_fp32_bits(h));
#endif
}

/// The nearest half's bits, ties to even; beyond the largest half infinity, NaN stays NaN.
inline uint16_t fp16_ieee_from_fp32_value(float f) {
#if defined(C10_X86_F16)
  return static_cast<uint16_t>(_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__) || defined(__ARM_FP16_FORMAT_IEEE)
  return bit_cast<uint16_t>(static_cast<__fp16>(f));
#else
  const uint32_t bits = fp32_to_bits(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x47800000u) {  // At least 2^16, or infinity or NaN.
    return static_cast<uint16_t>(sign | (magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u));
  }
  if (magnitude < 0x38800000u) {  // Below 2^-14: adding 1/2 rounds to a multiple of 2^-24.
    const float rounded = fp32_from_bits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (fp32_to_bits(rounded) - 0x3F000000u));
  }
  // Re-bias and round the 13 bits that go, ties to even; a carry runs into the exponent as it must.
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - ((127u - 15u) << 23) + 0x0FFFu + odd) >> 13));
#endif
}

}  // namespace detail

struct alignas(2) Half {
  unsigned short x;

  struct from_bits_t {};
  static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return from_bits_t(); }

  Half() = default;
  constexpr C10_HOST_DEVICE Half(unsigned short bits, from_bits_t) : x(bits) {}
  inline C10_HOST_DEVICE Half(float value) : x(detail::fp16_ieee_from_fp32_value(value)) {}
  inline C10_HOST_DEVICE operator float() const { return detail::fp16_ieee_to_fp32_value(x); }
};

C10_INTERNAL_FLOAT16_OPERATORS(Half)

}  // namespace c10

namespace std {

template <>
class numeric_limits<c10::Half> : public c10::detail::Float16Limits {
 public:
  static constexpr bool is_iec559 = true;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;

  static constexpr c10::Half min() {
    return c10::Half(static_cast<unsigned short>(0x0400), c10::Half::from_bits());
  }
  static constexpr c10::Half lowest() {
    return c10::Half(static_cast<unsigned short>(0xFBFF), c10::Half::from_bits());
  }
  static constexpr c10::Half max() {
    return c10::Half(static_cast<unsigned short>(0x7BFF), c10::Half::from_bits());
  }
  static constexpr c10::Half epsilon() {
    return c10::Half(static_cast<unsigned short>(0x1400), c10::Half::from_bits());
  }
  static constexpr c10::Half round_error() {
    return c10::Half(static_cast<unsigned short>(0x3800), c10::Half::from_bits());
  }
  static constexpr c10::Half infinity() {
    return c10::Half(static_cast<unsigned short>(0x7C00), c10::Half::from_bits());
  }
  static constexpr c10::Half quiet_NaN() {
    return c10::Half(static_cast<unsigned short>(0x7E00), c10::Half::from_bits());
  }
  static constexpr c10::Half signaling_NaN() {
    return c10::Half(static_cast<unsigned short>(0x7D00), c10::Half::from_bits());
  }
  static constexpr c10::Half denorm_min() {
    return c10::Half(static_cast<unsigned short>(0x0001), c10::Half::from_bits());
  }
};

}  // namespace std
