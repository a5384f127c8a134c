// SPDX-License-Identifier: BSD-3-Clause
// One element from one type to another, and runs of them: the loops behind the tables of
// element_type.h. A library that compiles them for particular processors includes this file; all
// others ask the tables.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <executorch/kernels/portable/loops/element_type.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace kernels {

// Float to integer without undefined behaviour: out of range gives the smallest value, as x86
// instructions do.
template <typename Int, typename Float>
ET_INLINE Int truncate_to(Float value) {
  using Wide = std::conditional_t<(sizeof(Int) < 4), int32_t, Int>;
  constexpr Float kLow = static_cast<Float>(std::numeric_limits<Wide>::min());  // exactly
  const bool fits = value >= kLow && value < -kLow;
  return static_cast<Int>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
}

template <typename To, typename From>
ET_INLINE To convert(From value) {
  constexpr bool kFromFloat = !std::is_integral<From>::value;
  if constexpr (std::is_same<To, bool>::value || std::is_same<From, bool>::value) {
    if constexpr (std::is_same<To, bool>::value) {
      return value != From(0);
    } else {
      return static_cast<To>(value ? 1.0f : 0.0f);
    }
  } else if constexpr (kFromFloat && std::is_integral<To>::value) {
    using Float = std::conditional_t<(sizeof(From) > 4), double, float>;
    return truncate_to<To>(static_cast<Float>(value));
  } else if constexpr (std::is_same<To, executorch::aten::Half>::value ||
                       std::is_same<To, executorch::aten::BFloat16>::value) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
constexpr bool is_complex_v = false;
template <typename T>
constexpr bool is_complex_v<executorch::aten::complex<T>> = true;

// One element on its way in. Of complex numbers, other types see whether they are zero, or their
// real part.
template <typename C, typename From>
ET_INLINE C load_one(From value) {
  if constexpr (is_complex_v<From>) {
    if constexpr (std::is_same<C, uint8_t>::value) {
      return static_cast<C>(value.real() != 0 || value.imag() != 0);
    } else if constexpr (std::is_same<C, Complex>::value) {
      return C(convert<double>(value.real()), convert<double>(value.imag()));
    } else {
      return convert<C>(value.real());
    }
  } else if constexpr (std::is_same<C, Complex>::value) {
    return C(convert<double>(value));
  } else if constexpr (std::is_same<C, uint8_t>::value) {
    return static_cast<C>(convert<bool>(value));
  } else {
    return convert<C>(value);
  }
}

// LoadRun and StoreRun of element_type.h. Inlined, so that they are compiled for the caller's
// processor.
template <typename From, typename C>
ET_INLINE void load_run(const void* in, int64_t stride, int64_t n, void* out) {
  const From* from = static_cast<const From*>(in);
  C* to = static_cast<C*>(out);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = load_one<C>(from[i]);
    }
  } else if (stride == 0) {
    const C value = load_one<C>(from[0]);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = value;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = load_one<C>(from[i * stride]);
    }
  }
}

template <typename C, typename To>
ET_INLINE void store_run(const void* in, int64_t n, void* out) {
  const C* from = static_cast<const C*>(in);
  To* to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = convert<To>(from[i]);
  }
}

}  // namespace kernels
}  // namespace executorch
