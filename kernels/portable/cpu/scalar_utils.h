// SPDX-License-Identifier: BSD-3-Clause
// What kernels ask of Scalar arguments.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <c10/util/overflows.h>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace utils {

/// Bool, Long or Double.
inline ScalarType get_scalar_dtype(Scalar scalar) {
  return scalar.isBoolean()                         ? ScalarType::Bool
         : scalar.isIntegral(/*includeBool=*/false) ? ScalarType::Long
                                                    : ScalarType::Double;
}

inline bool scalars_have_same_dtype(Scalar a, Scalar b) {
  ET_CHECK_OR_RETURN_FALSE(get_scalar_dtype(a) == get_scalar_dtype(b),
                           "expected scalars of one kind, found %s and %s",
                           toString(get_scalar_dtype(a)), toString(get_scalar_dtype(b)));
  return true;
}

/// The dtype that a tensor of `t` and a scalar are computed in: the tensor's, unless the scalar is
/// of a higher kind. Quantized and bits types end the program.
inline ScalarType promote_type_with_scalar(ScalarType t, Scalar scalar,
                                           bool half_to_float = false) {
  ET_CHECK_MSG(!isQIntType(t) && !isBitsType(t), "%s does not go with a scalar", toString(t));
  if (half_to_float && (t == ScalarType::Half || t == ScalarType::BFloat16)) {
    t = ScalarType::Float;
  }
  if (isComplexType(t) || isFloatingType(t)) {
    return t;
  }
  if (scalar.isFloatingPoint()) {
    return ScalarType::Float;
  }
  return t == ScalarType::Bool && !scalar.isBoolean() ? ScalarType::Long : t;
}

/// The same for C++ types: T1 the tensor's, T2 bool, int64_t or double.
template <typename T1, typename T2, bool half_to_float = false>
struct promote_type_with_scalar_type {
 private:
  using Tensor1 =
      std::conditional_t<half_to_float && c10::is_reduced_floating_point_v<T1>, float, T1>;
  static constexpr bool kStays =
      is_complex_type<Tensor1>::value || is_floating_point<Tensor1>::value;

 public:
  using type =
      std::conditional_t<kStays, Tensor1,
                         std::conditional_t<std::is_floating_point_v<T2>, float,
                                            std::conditional_t<std::is_same_v<Tensor1, bool> &&
                                                                   !std::is_same_v<T2, bool>,
                                                               int64_t, Tensor1>>>;
};

/// *out_val = the scalar; false when it is of another kind or does not fit. An integer needs an
/// integer, floating point takes both, bool takes integers and bools.
template <typename T>
bool extract_scalar(Scalar scalar, T* out_val) {
  if constexpr (std::is_same_v<T, bool>) {
    if (scalar.isFloatingPoint()) {
      return false;
    }
    *out_val = scalar.isBoolean() ? scalar.to<bool>() : scalar.to<int64_t>() != 0;
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    if (!scalar.isIntegral(/*includeBool=*/false) ||
        c10::overflows<T, int64_t>(scalar.to<int64_t>(), /*strict_unsigned=*/true)) {
      return false;
    }
    *out_val = static_cast<T>(scalar.to<int64_t>());
    return true;
  } else {
    if (scalar.isBoolean()) {
      return false;
    }
    if (scalar.isIntegral(/*includeBool=*/false)) {
      *out_val = static_cast<T>(scalar.to<int64_t>());
      return true;
    }
    const double value = scalar.to<double>();
    if (std::isfinite(value) &&
        std::abs(value) > static_cast<double>(std::numeric_limits<T>::max())) {
      return false;
    }
    *out_val = static_cast<T>(value);
    return true;
  }
}

/// The scalar as a T, whatever it holds.
template <typename T>
T scalar_to(const Scalar& s) {
  return s.isBoolean()         ? static_cast<T>(s.to<bool>())
         : s.isFloatingPoint() ? static_cast<T>(s.to<double>())
                               : static_cast<T>(s.to<int64_t>());
}

namespace internal {

/// nullopt where `in` is out of To's range; negative integers wrap into unsigned types once, and
/// bool takes everything.
template <typename To, typename From>
std::optional<To> check_overflow_cast(From in) {
  if constexpr (!std::is_same_v<To, bool> && !std::is_same_v<From, bool>) {
    if (c10::overflows<To, From>(in)) {
      return std::nullopt;
    }
  }
  return static_cast<To>(in);
}

template <typename To>
std::optional<To> check_overflow_scalar_cast(const Scalar& in) {
  return in.isBoolean()         ? check_overflow_cast<To, bool>(in.to<bool>())
         : in.isFloatingPoint() ? check_overflow_cast<To, double>(in.to<double>())
                                : check_overflow_cast<To, int64_t>(in.to<int64_t>());
}

}  // namespace internal

using internal::check_overflow_scalar_cast;

}  // namespace utils
}  // namespace native
}  // namespace executor
}  // namespace torch

#define ET_CHECK_SCALAR_SAME_TYPE(a__, b__)                                             \
  ET_CHECK_MSG(::torch::executor::native::utils::scalars_have_same_dtype((a__), (b__)), \
               "the scalars are of different kinds")

#define ET_EXTRACT_SCALAR(scalar__, out_val__)                                             \
  ET_CHECK_MSG(::torch::executor::native::utils::extract_scalar((scalar__), &(out_val__)), \
               "the scalar is of another kind or does not fit")
