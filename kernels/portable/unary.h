// SPDX-License-Identifier: BSD-3-Clause
// Functors of one argument. Each is valid for float and double, and for int64_t where a comment
// says so; the optimized library uses the same structs for its scalar remainder.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <c10/util/complex.h>
#include <executorch/kernels/portable/loops/element_type.h>

namespace executorch {
namespace kernels {

#define ET_MATH_FUNCTOR(Name, expression) \
  struct Name {                           \
    template <typename T>                 \
    T operator()(T x) const {             \
      return static_cast<T>(expression);  \
    }                                     \
  };

ET_MATH_FUNCTOR(Acos, std::acos(x))
ET_MATH_FUNCTOR(Acosh, std::acosh(x))
ET_MATH_FUNCTOR(Asin, std::asin(x))
ET_MATH_FUNCTOR(Asinh, std::asinh(x))
ET_MATH_FUNCTOR(Atan, std::atan(x))
ET_MATH_FUNCTOR(Atanh, std::atanh(x))
ET_MATH_FUNCTOR(Cos, std::cos(x))
ET_MATH_FUNCTOR(Cosh, std::cosh(x))
ET_MATH_FUNCTOR(Erf, std::erf(x))
ET_MATH_FUNCTOR(Erfc, std::erfc(x))
ET_MATH_FUNCTOR(Exp, std::exp(x))
ET_MATH_FUNCTOR(Expm1, std::expm1(x))
ET_MATH_FUNCTOR(Log, std::log(x))
ET_MATH_FUNCTOR(Log10, std::log10(x))
ET_MATH_FUNCTOR(Log1p, std::log1p(x))
ET_MATH_FUNCTOR(Log2, std::log2(x))
ET_MATH_FUNCTOR(Reciprocal, T(1) / x)
ET_MATH_FUNCTOR(Rsqrt, T(1) / std::sqrt(x))
ET_MATH_FUNCTOR(Sigmoid, T(1) / (T(1) + std::exp(-x)))
ET_MATH_FUNCTOR(Sin, std::sin(x))
ET_MATH_FUNCTOR(Sinh, std::sinh(x))
ET_MATH_FUNCTOR(Sqrt, std::sqrt(x))
ET_MATH_FUNCTOR(Tan, std::tan(x))
ET_MATH_FUNCTOR(Tanh, std::tanh(x))
ET_MATH_FUNCTOR(GeluErf, T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440))))
// 0.79788... is sqrt(2 / pi).
ET_MATH_FUNCTOR(GeluTanh,
                T(0.5) * x *
                    (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x))))
#undef ET_MATH_FUNCTOR

#define ET_TAKES_COMPLEX(Name) \
  template <>                  \
  inline constexpr bool takes_complex_v<Name> = true;
ET_TAKES_COMPLEX(Acos)
ET_TAKES_COMPLEX(Acosh)
ET_TAKES_COMPLEX(Asin)
ET_TAKES_COMPLEX(Asinh)
ET_TAKES_COMPLEX(Atan)
ET_TAKES_COMPLEX(Atanh)
ET_TAKES_COMPLEX(Cos)
ET_TAKES_COMPLEX(Cosh)
ET_TAKES_COMPLEX(Exp)
ET_TAKES_COMPLEX(Expm1)
ET_TAKES_COMPLEX(Log)
ET_TAKES_COMPLEX(Log10)
ET_TAKES_COMPLEX(Log1p)
ET_TAKES_COMPLEX(Log2)
ET_TAKES_COMPLEX(Reciprocal)
ET_TAKES_COMPLEX(Rsqrt)
ET_TAKES_COMPLEX(Sigmoid)
ET_TAKES_COMPLEX(Sin)
ET_TAKES_COMPLEX(Sinh)
ET_TAKES_COMPLEX(Sqrt)
ET_TAKES_COMPLEX(Tan)
ET_TAKES_COMPLEX(Tanh)

// The following take int64_t as well.
struct Ceil {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return x;
    } else {
      return std::ceil(x);
    }
  }
};
struct Floor {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return x;
    } else {
      return std::floor(x);
    }
  }
};
struct Trunc {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return x;
    } else {
      return std::trunc(x);
    }
  }
};
struct Round {  // half to even
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return x;
    } else {
      return std::nearbyint(x);
    }
  }
};
struct Neg {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return static_cast<T>(-static_cast<uint64_t>(x));
    } else {
      return -x;
    }
  }
};
ET_TAKES_COMPLEX(Neg)
#undef ET_TAKES_COMPLEX
struct Abs {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return x < 0 ? Neg()(x) : x;
    } else {
      return std::fabs(x);
    }
  }
};
struct Sign {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};
struct Relu {  // NaN stays NaN
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

template <typename T>
struct LeakyRelu {
  T slope;
  T operator()(T x) const { return x > T(0) ? x : x * slope; }
};
template <typename T>
struct Elu {
  T negative;  // alpha * scale
  T scale;
  T input_scale;
  T operator()(T x) const { return x <= T(0) ? std::expm1(x * input_scale) * negative : x * scale; }
};
template <typename T>
struct Logit {
  T eps;  // negative: no clamping
  T operator()(T x) const {
    const T p = eps < T(0) ? x : x < eps ? eps : x > T(1) - eps ? T(1) - eps : x;
    return std::log(p / (T(1) - p));
  }
};

}  // namespace kernels
}  // namespace executorch
