// SPDX-License-Identifier: BSD-3-Clause
// Scalar: one number - bool, 64-bit integer or double.
#pragma once

#include <cstdint>
#include <type_traits>

#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {
namespace etensor {

class Scalar {
 public:
  constexpr Scalar() : Scalar(static_cast<int64_t>(0)) {}
  /// Any integer type.
  template <typename T,
            typename std::enable_if<std::is_integral<T>::value && !std::is_same<T, bool>::value,
                                    bool>::type = true>
  /* implicit */ constexpr Scalar(T val) : tag_(Kind::Int), v_(static_cast<int64_t>(val)) {}
  /* implicit */ constexpr Scalar(bool val) : tag_(Kind::Bool), v_(val) {}
  /* implicit */ constexpr Scalar(double val) : tag_(Kind::Double), v_(val) {}
  /* implicit */ Scalar(BFloat16 val) : Scalar(static_cast<double>(static_cast<float>(val))) {}
  /* implicit */ Scalar(Half val) : Scalar(static_cast<double>(static_cast<float>(val))) {}

  constexpr bool isIntegral(bool includeBool) const {
    return tag_ == Kind::Int || (includeBool && tag_ == Kind::Bool);
  }
  constexpr bool isFloatingPoint() const { return tag_ == Kind::Double; }
  constexpr bool isBoolean() const { return tag_ == Kind::Bool; }

  /// The number as T, one of int64_t, double and bool (converted from what is held) or any type
  /// these convert to.
  template <typename T>
  T to() const {
    switch (tag_) {
      case Kind::Double:
        return convert<T>(v_.as_double);
      case Kind::Bool:
        return convert<T>(v_.as_bool);
      default:
        return convert<T>(v_.as_int);
    }
  }
  int64_t toInt() const { return to<int64_t>(); }
  double toFloatingPoint() const { return to<double>(); }
  double toDouble() const { return to<double>(); }
  bool toBool() const { return to<bool>(); }

 private:
  enum class Kind : uint8_t { Int, Double, Bool };

  template <typename T, typename From>
  static T convert(From value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value != From(0);
    } else if constexpr (std::is_integral_v<T> && std::is_same_v<From, double>) {
      // A double out of T's range has no integer; C++ leaves the cast undefined. Clamp, NaN to 0.
      return clamp_to<T>(value);
    } else {
      return static_cast<T>(value);
    }
  }

  template <typename T>
  static T clamp_to(double value) {
    // 2^digits is exact as a double, the largest T may not be.
    constexpr double kLimit = 2.0 * static_cast<double>(uint64_t{1} << (sizeof(T) * 8 - 2)) *
                              (std::is_signed_v<T> ? 1.0 : 2.0);
    constexpr T kMax =
        static_cast<T>(~uint64_t{0} >> (64 - sizeof(T) * 8 + (std::is_signed_v<T> ? 1 : 0)));
    constexpr T kMin = std::is_signed_v<T> ? static_cast<T>(-kMax - 1) : T(0);
    if (value >= kLimit) {
      return kMax;
    }
    if (value <= (std::is_signed_v<T> ? -kLimit : 0.0)) {
      return kMin;
    }
    return value == value ? static_cast<T>(value) : T(0);
  }

  Kind tag_;
  union v_t {
    double as_double;
    int64_t as_int;
    bool as_bool;
    constexpr v_t() : as_int(0) {}
    constexpr explicit v_t(double value) : as_double(value) {}
    constexpr explicit v_t(int64_t value) : as_int(value) {}
    constexpr explicit v_t(bool value) : as_bool(value) {}
  } v_;
};

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::Scalar;
}  // namespace torch::executor
