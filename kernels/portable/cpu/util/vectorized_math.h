// SPDX-License-Identifier: BSD-3-Clause
// executorch::math: <cmath> with one name for all types. Half and BFloat16 are computed in float.
#pragma once

#include <cmath>
#include <type_traits>

#include <c10/util/BFloat16-math.h>

namespace executorch {
namespace math {

#define ET_INTERNAL_MATH_1(name) \
  template <typename T>          \
  auto name(T x) {               \
    return std::name(x);         \
  }
#define ET_INTERNAL_MATH_2(name) \
  template <typename T>          \
  auto name(T x, T y) {          \
    return std::name(x, y);      \
  }
ET_INTERNAL_MATH_1(abs)
ET_INTERNAL_MATH_1(acos)
ET_INTERNAL_MATH_1(asin)
ET_INTERNAL_MATH_1(atan)
ET_INTERNAL_MATH_1(ceil)
ET_INTERNAL_MATH_1(cos)
ET_INTERNAL_MATH_1(cosh)
ET_INTERNAL_MATH_1(erf)
ET_INTERNAL_MATH_1(erfc)
ET_INTERNAL_MATH_1(exp)
ET_INTERNAL_MATH_1(expm1)
ET_INTERNAL_MATH_1(floor)
ET_INTERNAL_MATH_1(lgamma)
ET_INTERNAL_MATH_1(log)
ET_INTERNAL_MATH_1(log10)
ET_INTERNAL_MATH_1(log1p)
ET_INTERNAL_MATH_1(log2)
ET_INTERNAL_MATH_1(round)
ET_INTERNAL_MATH_1(sin)
ET_INTERNAL_MATH_1(sinh)
ET_INTERNAL_MATH_1(sqrt)
ET_INTERNAL_MATH_1(tan)
ET_INTERNAL_MATH_1(tanh)
ET_INTERNAL_MATH_1(trunc)
ET_INTERNAL_MATH_2(atan2)
ET_INTERNAL_MATH_2(fmod)
ET_INTERNAL_MATH_2(pow)
#undef ET_INTERNAL_MATH_1
#undef ET_INTERNAL_MATH_2

/// 1 / sqrt(x).
template <typename T>
auto rsqrt(T x) {
  if constexpr (std::is_integral_v<T>) {
    return 1.0 / std::sqrt(static_cast<double>(x));
  } else {
    return T(1) / std::sqrt(x);
  }
}

}  // namespace math
}  // namespace executorch
