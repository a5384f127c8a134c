// SPDX-License-Identifier: BSD-3-Clause
// Traits of complex<T>.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <torch/headeronly/util/complex.h>

namespace c10 {

template <typename T>
struct is_complex : public std::false_type {};
template <typename T>
struct is_complex<std::complex<T>> : public std::true_type {};
template <typename T>
struct is_complex<c10::complex<T>> : public std::true_type {};

/// T, or the type of the parts of a complex T.
template <typename T>
struct scalar_value_type {
  using type = T;
};
template <typename T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};
template <typename T>
struct scalar_value_type<c10::complex<T>> {
  using type = T;
};

}  // namespace c10

namespace std {

template <typename T>
class numeric_limits<c10::complex<T>> : public numeric_limits<T> {};

template <typename T>
bool isnan(const c10::complex<T>& v) {
  return std::isnan(v.real()) || std::isnan(v.imag());
}

}  // namespace std
