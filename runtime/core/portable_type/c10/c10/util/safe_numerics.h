// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic that tells when it overflows.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>

#if defined(__GNUC__)
#define C10_HAS_BUILTIN_OVERFLOW() (1)
#else
#define C10_HAS_BUILTIN_OVERFLOW() (0)
#include <limits>
#endif

namespace c10 {

/// *out = a + b modulo the type's range; true when the true sum is another.
template <typename T>
C10_ALWAYS_INLINE bool add_overflows(T a, T b, T* out) {
  static_assert(std::is_integral_v<T>, "integers only");
#if C10_HAS_BUILTIN_OVERFLOW()
  return __builtin_add_overflow(a, b, out);
#else
  using U = std::make_unsigned_t<T>;
  *out = static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  if constexpr (std::is_unsigned_v<T>) {
    return *out < a;
  } else {
    return ((a ^ *out) & (b ^ *out)) < 0;
  }
#endif
}

/// *out = a * b modulo the type's range; true when the true product is another.
template <typename T>
C10_ALWAYS_INLINE bool mul_overflows(T a, T b, T* out) {
  static_assert(std::is_integral_v<T>, "integers only");
#if C10_HAS_BUILTIN_OVERFLOW()
  return __builtin_mul_overflow(a, b, out);
#else
  using U = std::make_unsigned_t<T>;
  *out = static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  if constexpr (std::is_signed_v<T>) {
    if (a == T(-1)) {
      return b == std::numeric_limits<T>::min();
    }
  }
  return a != 0 && *out / a != b;
#endif
}

C10_ALWAYS_INLINE bool add_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return add_overflows<uint64_t>(a, b, out);
}
C10_ALWAYS_INLINE bool mul_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return mul_overflows<uint64_t>(a, b, out);
}

/// *out = the product of all; true when a partial product overflows and no factor is zero.
template <typename It>
bool safe_multiplies_u64(It first, It last, uint64_t* out) {
  uint64_t product = 1;
  bool overflows = false;
  bool has_zero = false;
  for (; first != last; ++first) {
    has_zero |= *first == 0;
    overflows |= mul_overflows(product, static_cast<uint64_t>(*first), &product);
  }
  *out = has_zero ? 0 : product;
  return overflows && !has_zero;
}

template <typename Container>
bool safe_multiplies_u64(const Container& c, uint64_t* out) {
  return safe_multiplies_u64(std::begin(c), std::end(c), out);
}

}  // namespace c10
