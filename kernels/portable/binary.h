// SPDX-License-Identifier: BSD-3-Clause
// Functors of two arguments for float, double and int64_t. Integers wrap around; integer division
// by zero is excluded by the kernels before they run.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <executorch/kernels/portable/loops/element_type.h>

namespace executorch {
namespace kernels {

template <typename T>
constexpr bool is_int_v = std::is_integral<T>::value;

// What integers wrap around in: unsigned, and wide enough that C++ does not promote it to int.
template <typename T>
using Wrapping =
    std::conditional_t<(sizeof(T) < sizeof(uint32_t)), uint32_t, std::make_unsigned_t<T>>;

template <typename T>
T wrap_add(T a, T b) {
  if constexpr (is_int_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

template <typename T>
T wrap_mul(T a, T b) {
  if constexpr (is_int_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return a * b;
  }
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return wrap_add(a, b);
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_int_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    } else {
      return a - b;
    }
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return wrap_mul(a, b);
  }
};
template <typename T>
struct AddScaled {  // a + alpha * b
  T alpha;
  T operator()(T a, T b) const { return wrap_add(a, wrap_mul(alpha, b)); }
};
struct TrueDiv {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
// Whether a number beside a tensor of Half or BFloat16 is computed with as it is. PyTorch rounds it
// to the tensor's dtype first but where it multiplies or divides.
template <typename F>
constexpr bool takes_exact_number_v = false;
template <>
inline constexpr bool takes_exact_number_v<Mul> = true;
template <>
inline constexpr bool takes_exact_number_v<TrueDiv> = true;

template <>
inline constexpr bool takes_complex_v<Add> = true;
template <>
inline constexpr bool takes_complex_v<Sub> = true;
template <>
inline constexpr bool takes_complex_v<Mul> = true;
template <>
inline constexpr bool takes_complex_v<TrueDiv> = true;
struct TruncDiv {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_int_v<T>) {
      return b == -1 ? Sub()(T(0), a) : a / b;
    } else {
      return std::trunc(a / b);
    }
  }
};
struct Fmod {  // sign of the dividend
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_int_v<T>) {
      return b == -1 ? 0 : a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};
struct Remainder {  // sign of the divisor
  template <typename T>
  T operator()(T a, T b) const {
    const T rest = Fmod()(a, b);
    return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
  }
};
// The largest whole number not above a / b, found from the exact remainder, as Python's // does.
struct FloorDiv {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_int_v<T>) {
      const T quotient = TruncDiv()(a, b);
      return Fmod()(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
    } else {
      if (b == T(0)) {
        return a / b;
      }
      const T rest = std::fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != T(0) && (b < T(0)) != (rest < T(0))) {
        quotient -= T(1);
      }
      if (quotient == T(0)) {
        return std::copysign(T(0), a / b);
      }
      const T whole = std::floor(quotient);
      return quotient - whole > T(0.5) ? whole + T(1) : whole;
    }
  }
};
template <>
inline constexpr bool takes_exact_number_v<TruncDiv> = true;
template <>
inline constexpr bool takes_exact_number_v<FloorDiv> = true;
struct Pow {
  template <typename T>
  T operator()(T base, T exponent) const {
    if constexpr (is_int_v<T>) {
      if (exponent < 0) {
        const T sign = exponent % 2 == 0 ? 1 : -1;
        return base == 1 ? 1 : base == -1 ? sign : 0;
      }
      T result = 1;
      for (; exponent > 0; exponent >>= 1) {
        result = exponent & 1 ? wrap_mul(result, base) : result;
        base = wrap_mul(base, base);
      }
      return result;
    } else {
      return std::pow(base, exponent);
    }
  }
};
struct Atan2 {
  template <typename T>
  T operator()(T a, T b) const {
    return std::atan2(a, b);
  }
};
// NaN wins. Without a branch, because which of two is larger is hard to predict.
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    const bool first = static_cast<bool>(static_cast<int>(a > b) | static_cast<int>(a != a));
    return first ? a : b;
  }
};
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    const bool first = static_cast<bool>(static_cast<int>(a < b) | static_cast<int>(a != a));
    return first ? a : b;
  }
};

struct BitAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct ShiftLeft {  // by a negative or too large number: all bits are shifted out
  int64_t operator()(int64_t a, int64_t b) const {
    return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  }
};
struct ShiftRight {
  int64_t operator()(int64_t a, int64_t b) const { return a >> (b < 0 || b > 63 ? 63 : b); }
};

struct Equal {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a != b;
  }
};
template <>
inline constexpr bool takes_complex_v<Equal> = true;
template <>
inline constexpr bool takes_complex_v<NotEqual> = true;
struct Less {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a >= b;
  }
};

}  // namespace kernels
}  // namespace executorch
