// SPDX-License-Identifier: BSD-3-Clause
// <complex> functions for c10::complex, through std::complex; in namespace std as well.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/complex.h>

namespace c10_complex_math {

#define C10_INTERNAL_COMPLEX_FUNCTION(name)                               \
  template <typename T>                                                   \
  C10_HOST_DEVICE inline c10::complex<T> name(const c10::complex<T>& x) { \
    return c10::complex<T>(std::name(static_cast<std::complex<T>>(x)));   \
  }
C10_INTERNAL_COMPLEX_FUNCTION(acos)
C10_INTERNAL_COMPLEX_FUNCTION(acosh)
C10_INTERNAL_COMPLEX_FUNCTION(asin)
C10_INTERNAL_COMPLEX_FUNCTION(asinh)
C10_INTERNAL_COMPLEX_FUNCTION(atan)
C10_INTERNAL_COMPLEX_FUNCTION(atanh)
C10_INTERNAL_COMPLEX_FUNCTION(cos)
C10_INTERNAL_COMPLEX_FUNCTION(cosh)
C10_INTERNAL_COMPLEX_FUNCTION(exp)
C10_INTERNAL_COMPLEX_FUNCTION(log)
C10_INTERNAL_COMPLEX_FUNCTION(log10)
C10_INTERNAL_COMPLEX_FUNCTION(sin)
C10_INTERNAL_COMPLEX_FUNCTION(sinh)
C10_INTERNAL_COMPLEX_FUNCTION(sqrt)
C10_INTERNAL_COMPLEX_FUNCTION(tan)
C10_INTERNAL_COMPLEX_FUNCTION(tanh)
#undef C10_INTERNAL_COMPLEX_FUNCTION

template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log2(const c10::complex<T>& x) {
  const T ln2 = std::log(T(2));
  const c10::complex<T> natural = log(x);
  return c10::complex<T>(natural.real() / ln2, natural.imag() / ln2);
}

/// log(1 + z), exact for small z: |1 + z|^2 = 1 + x (x + 2) + y^2.
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log1p(const c10::complex<T>& z) {
  const T x = z.real();
  const T y = z.imag();
  const T squares = x * (x + T(2)) + y * y;
  if (std::abs(x) < T(0.5) && std::abs(y) < T(0.5)) {
    return c10::complex<T>(std::log1p(squares) / T(2), std::atan2(y, x + T(1)));
  }
  return log(c10::complex<T>(x + T(1), y));
}

/// exp(z) - 1, exact for small z: e^x cos y - 1 = expm1(x) - 2 e^x sin^2(y / 2).
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> expm1(const c10::complex<T>& z) {
  const T half_sine = std::sin(z.imag() / T(2));
  const T scale = std::exp(z.real());
  return c10::complex<T>(std::expm1(z.real()) - T(2) * scale * half_sine * half_sine,
                         scale * std::sin(z.imag()));
}

template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const c10::complex<T>& x, const c10::complex<T>& y) {
  return c10::complex<T>(
      std::pow(static_cast<std::complex<T>>(x), static_cast<std::complex<T>>(y)));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const c10::complex<T>& x, const T& y) {
  return c10::complex<T>(std::pow(static_cast<std::complex<T>>(x), y));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const T& x, const c10::complex<T>& y) {
  return c10::complex<T>(std::pow(x, static_cast<std::complex<T>>(y)));
}
template <typename T, typename U>
C10_HOST_DEVICE inline c10::complex<decltype(T() * U())> pow(const c10::complex<T>& x,
                                                             const c10::complex<U>& y) {
  using Wide = c10::complex<decltype(T() * U())>;
  return pow(Wide(x), Wide(y));
}
template <typename T, typename U, std::enable_if_t<std::is_arithmetic_v<U>, int> = 0>
C10_HOST_DEVICE inline c10::complex<decltype(T() * U())> pow(const c10::complex<T>& x, const U& y) {
  using Part = decltype(T() * U());
  return pow(c10::complex<Part>(x), static_cast<Part>(y));
}
template <typename T, typename U, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
C10_HOST_DEVICE inline c10::complex<decltype(T() * U())> pow(const T& x, const c10::complex<U>& y) {
  using Part = decltype(T() * U());
  return pow(static_cast<Part>(x), c10::complex<Part>(y));
}

}  // namespace c10_complex_math

namespace std {
using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::expm1;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::log1p;
using c10_complex_math::log2;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;
}  // namespace std

// Beside the functions of <math.h>.
using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::expm1;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::log1p;
using c10_complex_math::log2;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;
