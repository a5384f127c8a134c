// SPDX-License-Identifier: BSD-3-Clause
// <cmath> for Half and BFloat16: computed in float, rounded once.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>

namespace c10 {

template <typename T>
struct is_reduced_floating_point
    : std::bool_constant<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>> {};
template <typename T>
inline constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

}  // namespace c10

namespace std {

using c10::is_reduced_floating_point;
using c10::is_reduced_floating_point_v;

#define C10_INTERNAL_REDUCED_UNARY(name)                                                \
  template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0> \
  inline T name(T a) {                                                                  \
    return std::name(float(a));                                                         \
  }
C10_INTERNAL_REDUCED_UNARY(abs)
C10_INTERNAL_REDUCED_UNARY(acos)
C10_INTERNAL_REDUCED_UNARY(asin)
C10_INTERNAL_REDUCED_UNARY(atan)
C10_INTERNAL_REDUCED_UNARY(atanh)
C10_INTERNAL_REDUCED_UNARY(ceil)
C10_INTERNAL_REDUCED_UNARY(cos)
C10_INTERNAL_REDUCED_UNARY(cosh)
C10_INTERNAL_REDUCED_UNARY(erf)
C10_INTERNAL_REDUCED_UNARY(erfc)
C10_INTERNAL_REDUCED_UNARY(exp)
C10_INTERNAL_REDUCED_UNARY(expm1)
C10_INTERNAL_REDUCED_UNARY(floor)
C10_INTERNAL_REDUCED_UNARY(lgamma)
C10_INTERNAL_REDUCED_UNARY(log)
C10_INTERNAL_REDUCED_UNARY(log10)
C10_INTERNAL_REDUCED_UNARY(log1p)
C10_INTERNAL_REDUCED_UNARY(log2)
C10_INTERNAL_REDUCED_UNARY(nearbyint)
C10_INTERNAL_REDUCED_UNARY(sin)
C10_INTERNAL_REDUCED_UNARY(sinh)
C10_INTERNAL_REDUCED_UNARY(sqrt)
C10_INTERNAL_REDUCED_UNARY(tan)
C10_INTERNAL_REDUCED_UNARY(tanh)
C10_INTERNAL_REDUCED_UNARY(trunc)
#undef C10_INTERNAL_REDUCED_UNARY

template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline bool isfinite(T a) {
  return std::isfinite(float(a));
}
template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T rsqrt(T a) {
  return 1.0f / std::sqrt(float(a));
}
template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T pow(T a, double b) {
  return static_cast<float>(std::pow(static_cast<double>(float(a)), b));
}
template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T pow(T a, T b) {
  return std::pow(float(a), float(b));
}
template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T fmod(T a, T b) {
  return std::fmod(float(a), float(b));
}

/// The neighbour of `from` towards `to` in the 16-bit format.
template <typename T, std::enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
C10_HOST_DEVICE inline T nextafter(T from, T to) {
  using int_repr_t = uint16_t;
  const float start = from;
  const float target = to;
  if (start != start || target != target) {
    return std::numeric_limits<T>::quiet_NaN();
  }
  if (start == target) {
    return to;
  }
  if (start == 0.0f) {
    return T(static_cast<int_repr_t>(target < 0.0f ? 0x8001 : 0x0001), T::from_bits());
  }
  // Sign and magnitude: away from zero is one up.
  const bool is_away_from_zero = (start < target) == (start > 0.0f);
  const int_repr_t bits = from.x;
  return T(static_cast<int_repr_t>(is_away_from_zero ? bits + 1 : bits - 1), T::from_bits());
}

}  // namespace std
