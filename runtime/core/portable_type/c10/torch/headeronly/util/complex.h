// SPDX-License-Identifier: BSD-3-Clause
// complex<T>: laid out as std::complex<T>, with mixed arithmetic.
#pragma once

#include <cmath>
#include <complex>
#include <istream>
#include <ostream>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/Half.h>

namespace c10 {

template <typename T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  constexpr C10_HOST_DEVICE complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
  template <typename U>
  explicit constexpr complex(const std::complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  /// To a wider type without a cast, to a narrower one with.
  template <typename U, std::enable_if_t<(sizeof(U) < sizeof(T)), int> = 0>
  constexpr C10_HOST_DEVICE complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <typename U, std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  explicit constexpr C10_HOST_DEVICE complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}

  constexpr complex<T>& operator=(T re) {
    real_ = re;
    imag_ = T(0);
    return *this;
  }
  template <typename U>
  constexpr complex<T>& operator=(const complex<U>& rhs) {
    real_ = static_cast<T>(rhs.real());
    imag_ = static_cast<T>(rhs.imag());
    return *this;
  }
  template <typename U>
  constexpr complex<T>& operator=(const std::complex<U>& rhs) {
    real_ = static_cast<T>(rhs.real());
    imag_ = static_cast<T>(rhs.imag());
    return *this;
  }

  constexpr C10_HOST_DEVICE T real() const { return real_; }
  constexpr C10_HOST_DEVICE T imag() const { return imag_; }
  constexpr void real(T value) { real_ = value; }
  constexpr void imag(T value) { imag_ = value; }

  constexpr complex<T>& operator+=(T re) {
    real_ = real_ + re;
    return *this;
  }
  constexpr complex<T>& operator-=(T re) {
    real_ = real_ - re;
    return *this;
  }
  constexpr complex<T>& operator*=(T re) {
    real_ = real_ * re;
    imag_ = imag_ * re;
    return *this;
  }
  constexpr complex<T>& operator/=(T re) {
    real_ = real_ / re;
    imag_ = imag_ / re;
    return *this;
  }
  template <typename U>
  constexpr complex<T>& operator+=(const complex<U>& rhs) {
    real_ = real_ + static_cast<T>(rhs.real());
    imag_ = imag_ + static_cast<T>(rhs.imag());
    return *this;
  }
  template <typename U>
  constexpr complex<T>& operator-=(const complex<U>& rhs) {
    real_ = real_ - static_cast<T>(rhs.real());
    imag_ = imag_ - static_cast<T>(rhs.imag());
    return *this;
  }
  /// (a + ib)(c + id) = (ac - bd) + i(ad + bc)
  template <typename U>
  constexpr complex<T>& operator*=(const complex<U>& rhs) {
    const T a = real_, b = imag_;
    const T c = static_cast<T>(rhs.real()), d = static_cast<T>(rhs.imag());
    real_ = a * c - b * d;
    imag_ = a * d + b * c;
    return *this;
  }
  /// Smith's method: scales by the larger part of the divisor, so that |rhs|^2 does not overflow.
  template <typename U>
  constexpr complex<T>& operator/=(const complex<U>& rhs) {
    const T a = real_, b = imag_;
    const T c = static_cast<T>(rhs.real()), d = static_cast<T>(rhs.imag());
    const bool real_is_larger = (c < T(0) ? -c : c) >= (d < T(0) ? -d : d);
    if (c == T(0) && d == T(0)) {
      real_ = a / c;
      imag_ = b / c;
    } else if (real_is_larger) {
      const T ratio = d / c;
      const T scale = T(1.0f) / (c + d * ratio);
      real_ = (a + b * ratio) * scale;
      imag_ = (b - a * ratio) * scale;
    } else {
      const T ratio = c / d;
      const T scale = T(1.0f) / (d + c * ratio);
      real_ = (a * ratio + b) * scale;
      imag_ = (b * ratio - a) * scale;
    }
    return *this;
  }

  template <typename U>
  explicit constexpr operator std::complex<U>() const {
    return std::complex<U>(static_cast<U>(real_), static_cast<U>(imag_));
  }
  explicit constexpr operator bool() const { return real_ != T(0) || imag_ != T(0); }
};

template <typename T>
constexpr complex<T> operator+(const complex<T>& val) {
  return val;
}
template <typename T>
constexpr complex<T> operator-(const complex<T>& val) {
  return complex<T>(-val.real(), -val.imag());
}

#define C10_INTERNAL_COMPLEX_OPERATOR(op)                                          \
  template <typename T>                                                            \
  constexpr complex<T> operator op(const complex<T>& lhs, const complex<T>& rhs) { \
    complex<T> result = lhs;                                                       \
    return result op## = rhs;                                                      \
  }                                                                                \
  template <typename T>                                                            \
  constexpr complex<T> operator op(const complex<T>& lhs, const T & rhs) {         \
    complex<T> result = lhs;                                                       \
    return result op## = rhs;                                                      \
  }                                                                                \
  template <typename T>                                                            \
  constexpr complex<T> operator op(const T & lhs, const complex<T>& rhs) {         \
    complex<T> result(lhs, T());                                                   \
    return result op## = rhs;                                                      \
  }                                                                                \
  template <typename fT, typename iT, COMPLEX_INTEGER_OP_TEMPLATE_CONDITION>       \
  constexpr complex<fT> operator op(const complex<fT>& a, const iT & b) {          \
    return a op static_cast<fT>(b);                                                \
  }                                                                                \
  template <typename fT, typename iT, COMPLEX_INTEGER_OP_TEMPLATE_CONDITION>       \
  constexpr complex<fT> operator op(const iT & a, const complex<fT>& b) {          \
    return static_cast<fT>(a) op b;                                                \
  }
#define COMPLEX_INTEGER_OP_TEMPLATE_CONDITION \
  std::enable_if_t<std::is_floating_point_v<fT> && std::is_integral_v<iT>, int> = 0
C10_INTERNAL_COMPLEX_OPERATOR(+)
C10_INTERNAL_COMPLEX_OPERATOR(-)
C10_INTERNAL_COMPLEX_OPERATOR(*)
C10_INTERNAL_COMPLEX_OPERATOR(/)
#undef COMPLEX_INTEGER_OP_TEMPLATE_CONDITION
#undef C10_INTERNAL_COMPLEX_OPERATOR

template <typename T>
constexpr bool operator==(const complex<T>& lhs, const complex<T>& rhs) {
  return lhs.real() == rhs.real() && lhs.imag() == rhs.imag();
}
template <typename T>
constexpr bool operator==(const complex<T>& lhs, const T& rhs) {
  return lhs.real() == rhs && lhs.imag() == T();
}
template <typename T>
constexpr bool operator==(const T& lhs, const complex<T>& rhs) {
  return rhs == lhs;
}
template <typename T>
constexpr bool operator!=(const complex<T>& lhs, const complex<T>& rhs) {
  return !(lhs == rhs);
}
template <typename T>
constexpr bool operator!=(const complex<T>& lhs, const T& rhs) {
  return !(lhs == rhs);
}
template <typename T>
constexpr bool operator!=(const T& lhs, const complex<T>& rhs) {
  return !(lhs == rhs);
}

template <typename T, typename CharT, typename Traits>
std::basic_ostream<CharT, Traits>& operator<<(std::basic_ostream<CharT, Traits>& os,
                                              const complex<T>& x) {
  return os << '(' << x.real() << ',' << x.imag() << ')';
}
template <typename T, typename CharT, typename Traits>
std::basic_istream<CharT, Traits>& operator>>(std::basic_istream<CharT, Traits>& is,
                                              complex<T>& x) {
  std::complex<T> value;
  is >> value;
  x = value;
  return is;
}

/// r (cos theta + i sin theta)
template <typename T>
C10_HOST_DEVICE complex<T> polar(const T& r, const T& theta = T()) {
  return complex<T>(r * std::cos(theta), r * std::sin(theta));
}

namespace complex_literals {
constexpr complex<float> operator""_if(long double imag) {
  return complex<float>(0.0f, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(long double imag) {
  return complex<double>(0.0, static_cast<double>(imag));
}
constexpr complex<float> operator""_if(unsigned long long imag) {
  return complex<float>(0.0f, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(unsigned long long imag) {
  return complex<double>(0.0, static_cast<double>(imag));
}
}  // namespace complex_literals

}  // namespace c10

namespace std {

template <typename T>
constexpr T real(const c10::complex<T>& z) {
  return z.real();
}
template <typename T>
constexpr T imag(const c10::complex<T>& z) {
  return z.imag();
}
template <typename T>
C10_HOST_DEVICE T abs(const c10::complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <typename T>
C10_HOST_DEVICE T arg(const c10::complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <typename T>
constexpr T norm(const c10::complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
constexpr c10::complex<T> conj(const c10::complex<T>& z) {
  return c10::complex<T>(z.real(), -z.imag());
}

}  // namespace std
