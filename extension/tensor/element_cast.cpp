// SPDX-License-Identifier: BSD-3-Clause
// Conversions go through int64_t (integers, Bool) or double, piece by piece: one loop per type and
// direction instead of one per pair of types.
#include <executorch/extension/tensor/element_cast.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <c10/util/overflows.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace executorch::extension::internal {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;

namespace {

constexpr size_t kPiece = 256;

// Calls function(T()) with the C++ type of an arithmetic element type. False if it is none.
template <typename Function>
bool with_type(ScalarType type, Function&& function) {
  return executorch::runtime::dispatch_real_hb_bf16_uint(
      type, [&](auto tag) { function(typename decltype(tag)::type()); });
}

template <typename T>
constexpr bool is_reduced = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Cut to an integer, whose lowest bits count; 0 for what no 64 bits hold.
uint64_t to_bits(double number) {
  if (number >= 0) {
    return number < 18446744073709551616.0 ? static_cast<uint64_t>(number) : 0;
  }
  return number > -9223372036854775808.0 ? static_cast<uint64_t>(static_cast<int64_t>(number)) : 0;
}

template <typename T, typename Number>
T from_number(Number number) {
  if constexpr (is_reduced<T>) {
    return T(static_cast<float>(number));
  } else if constexpr (std::is_same_v<T, bool>) {
    return number != 0;
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Number>) {
    return static_cast<T>(to_bits(number));
  } else {
    return static_cast<T>(number);
  }
}

template <typename Number, typename T>
Number to_number(T value) {
  if constexpr (is_reduced<T>) {
    return static_cast<Number>(static_cast<float>(value));
  } else {
    return static_cast<Number>(value);
  }
}

template <typename Number>
bool store(const Number* numbers, void* target, ScalarType type, size_t count) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(target);
    for (size_t i = 0; i < count; ++i) {
      out[i] = from_number<T>(numbers[i]);
    }
  });
}

template <typename Number>
bool load(const void* source, ScalarType type, Number* numbers, size_t count) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    const T* in = static_cast<const T*>(source);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = to_number<Number>(in[i]);
    }
  });
}

template <typename Number>
bool convert(const void* source, ScalarType from, void* target, ScalarType to, size_t count) {
  const size_t from_size = executorch::runtime::elementSize(from);
  const size_t to_size = executorch::runtime::elementSize(to);
  Number piece[kPiece];
  for (size_t done = 0; done < count; done += kPiece) {
    const size_t length = std::min(kPiece, count - done);
    const char* in = static_cast<const char*>(source) + done * from_size;
    char* out = static_cast<char*>(target) + done * to_size;
    if (!load(in, from, piece, length) || !store(piece, out, to, length)) {
      return false;
    }
  }
  return true;
}

bool is_floating(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 || type == ScalarType::Float ||
         type == ScalarType::Double;
}

// PyTorch's rules of promotion, which do not let numbers lose their kind, do not know these.
bool is_unsigned(ScalarType type) {
  return type == ScalarType::UInt16 || type == ScalarType::UInt32 || type == ScalarType::UInt64;
}

bool is_arithmetic(ScalarType type) {
  return with_type(type, [](auto) {});
}

}  // namespace

bool can_cast_elements(ScalarType from, ScalarType to) {
  if (from == to) {
    return true;
  }
  return is_arithmetic(from) && is_arithmetic(to) && to != ScalarType::Bool &&
         (is_floating(to) || !is_floating(from) || is_unsigned(to));
}

bool can_hold(ScalarType type, const Scalar& value) {
  bool fits = false;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      fits = !value.isFloatingPoint();
    } else if constexpr (std::is_integral_v<T>) {
      fits = value.isIntegral(/*includeBool=*/false) &&
             !c10::overflows<T, int64_t>(value.to<int64_t>(), /*strict_unsigned=*/true);
    } else {
      const double number = std::abs(value.to<double>());
      fits = !value.isBoolean() && !(std::isfinite(number) &&
                                     number > static_cast<double>(std::numeric_limits<T>::max()));
    }
  });
  return fits;
}

bool cast_elements(const void* source, ScalarType from, void* target, ScalarType to, size_t count) {
  if (!is_arithmetic(from) || !is_arithmetic(to)) {
    return false;
  }
  return is_floating(from) ? convert<double>(source, from, target, to, count)
                           : convert<int64_t>(source, from, target, to, count);
}

bool store_elements(const double* numbers, void* target, ScalarType type, size_t count) {
  return store(numbers, target, type, count);
}

bool store_elements(const int64_t* numbers, void* target, ScalarType type, size_t count) {
  return store(numbers, target, type, count);
}

}  // namespace executorch::extension::internal
