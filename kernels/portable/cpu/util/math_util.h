// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic as PyTorch's operators do it.
#pragma once

#include <cmath>
#include <type_traits>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace utils {

/// Whether a is NaN; integers are not.
template <typename T>
inline bool isnan_override(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return a != a;
  }
}

/// The quotient rounded down. Integers must not be divided by 0; floats give what IEEE 754 gives.
template <typename INT_T, std::enable_if_t<std::is_integral_v<INT_T>, bool> = true>
INT_T floor_divide(INT_T a, INT_T b) {
  const INT_T quotient = static_cast<INT_T>(a / b);
  if constexpr (std::is_signed_v<INT_T>) {
    return static_cast<INT_T>((a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient);
  } else {
    return quotient;
  }
}
template <typename FLOAT_T, std::enable_if_t<!std::is_integral_v<FLOAT_T>, bool> = true>
FLOAT_T floor_divide(FLOAT_T a, FLOAT_T b) {
  if (b == FLOAT_T(0)) {
    return static_cast<FLOAT_T>(a / b);
  }
  const auto remainder = std::fmod(a, b);
  auto quotient = (a - remainder) / b;
  if (remainder != 0 && (b < FLOAT_T(0)) != (remainder < 0)) {
    quotient -= 1;
  }
  if (quotient == 0) {
    return static_cast<FLOAT_T>(std::copysign(0.0, static_cast<double>(a / b)));
  }
  // The nearest whole number: what was divided is whole but for rounding.
  const auto floor = std::floor(quotient);
  return static_cast<FLOAT_T>(quotient - floor > 0.5 ? floor + 1 : floor);
}

/// The smaller and the larger; NaN wins.
template <typename T>
T min_override(T a, T b) {
  return isnan_override(a) ? a : isnan_override(b) ? b : b < a ? b : a;
}
template <typename T>
T max_override(T a, T b) {
  return isnan_override(a) ? a : isnan_override(b) ? b : a < b ? b : a;
}

/// The remainder with the sign of b. Integers must not be divided by 0.
template <typename CTYPE>
CTYPE remainder_override(CTYPE a, CTYPE b) {
  if constexpr (std::is_integral_v<CTYPE>) {
    const CTYPE rest = static_cast<CTYPE>(a % b);
    if constexpr (std::is_signed_v<CTYPE>) {
      return static_cast<CTYPE>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    } else {
      return rest;
    }
  } else {
    const auto rest = std::fmod(a, b);
    return static_cast<CTYPE>(rest != 0 && (rest < 0) != (b < CTYPE(0)) ? rest + b : rest);
  }
}

}  // namespace utils
}  // namespace native
}  // namespace executor
}  // namespace torch
