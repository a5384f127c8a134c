// SPDX-License-Identifier: BSD-3-Clause
// Sign and range tests that are right, and free of warnings, for every arithmetic type.
#pragma once

#include <limits>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>

namespace c10 {

template <typename T>
inline constexpr bool is_negative([[maybe_unused]] const T& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else {
    return x < T(0);
  }
}

/// -1, 0 or 1.
template <typename T>
inline constexpr int signum(const T& x) {
  return (T(0) < x) - (is_negative(x) ? 1 : 0);
}

template <typename T, typename U>
inline constexpr bool signs_differ(const T& a, const U& b) {
  return is_negative(a) != is_negative(b);
}

/// x > the largest Limit.
template <typename Limit, typename T>
inline constexpr bool greater_than_max([[maybe_unused]] const T& x) {
  constexpr Limit kMax = (std::numeric_limits<Limit>::max)();
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Limit>) {
    if constexpr (std::numeric_limits<T>::digits > std::numeric_limits<Limit>::digits) {
      return x > static_cast<T>(kMax);
    } else {
      return false;
    }
  } else {
    return x > kMax;
  }
}

/// x < the lowest Limit.
template <typename Limit, typename T>
inline constexpr bool less_than_lowest([[maybe_unused]] const T& x) {
  if constexpr (std::is_unsigned_v<Limit>) {
    return is_negative(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else if constexpr (std::is_integral_v<T> &&
                       std::numeric_limits<T>::digits <= std::numeric_limits<Limit>::digits) {
    return false;
  } else {
    return x < std::numeric_limits<Limit>::lowest();
  }
}

}  // namespace c10
