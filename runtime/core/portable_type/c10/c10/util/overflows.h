// SPDX-License-Identifier: BSD-3-Clause
// Whether a number is out of another type's range.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <c10/util/complex_utils.h>
#include <torch/headeronly/util/TypeSafeSignMath.h>

namespace c10 {

/// From an integer. Unless strict_unsigned, negative numbers may wrap around once into an unsigned
/// type.
template <typename To, typename From>
std::enable_if_t<std::is_integral_v<From> && !std::is_same_v<From, bool>, bool> overflows(
    From f, bool strict_unsigned = false) {
  using limit = std::numeric_limits<typename scalar_value_type<To>::type>;
  if constexpr (!limit::is_signed && std::numeric_limits<From>::is_signed) {
    if (!strict_unsigned) {
      return greater_than_max<typename scalar_value_type<To>::type>(f) ||
             (is_negative(f) && -static_cast<uint64_t>(f) > static_cast<uint64_t>(limit::max()));
    }
  }
  return c10::less_than_lowest<typename scalar_value_type<To>::type>(f) ||
         greater_than_max<typename scalar_value_type<To>::type>(f);
}

/// From a floating point number. Infinity and NaN overflow where the target does not have them.
template <typename To, typename From>
std::enable_if_t<std::is_floating_point_v<From>, bool> overflows(
    From f, [[maybe_unused]] bool strict_unsigned = false) {
  using limit = std::numeric_limits<typename scalar_value_type<To>::type>;
  if (limit::has_infinity && std::isinf(static_cast<double>(f))) {
    return false;
  }
  if (!limit::has_quiet_NaN && f != f) {
    return true;
  }
  // The next power of two is exact where the largest integer is not.
  if constexpr (limit::is_integer) {
    return f < static_cast<From>(limit::lowest()) ||
           f >= std::ldexp(static_cast<From>(1), limit::digits);
  } else {
    return f < static_cast<From>(limit::lowest()) || f > static_cast<From>(limit::max());
  }
}

/// From a complex number: the imaginary part must be zero unless the target is complex.
template <typename To, typename From>
std::enable_if_t<is_complex<From>::value, bool> overflows(From f, bool strict_unsigned = false) {
  using Part = typename scalar_value_type<From>::type;
  if (!is_complex<To>::value && f.imag() != Part(0)) {
    return true;
  }
  return overflows<To, Part>(f.real(), strict_unsigned) ||
         overflows<To, Part>(f.imag(), strict_unsigned);
}

}  // namespace c10
