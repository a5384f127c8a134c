// SPDX-License-Identifier: BSD-3-Clause
// Small arithmetic of optimized kernels.
#pragma once

#include <type_traits>

#include <c10/util/BFloat16-math.h>
#include <c10/util/llvmMathExtras.h>

namespace executorch {
namespace utils {

/// What sums of T are kept in: float for Half and BFloat16, T for others.
template <typename T>
using compute_dtype = std::conditional_t<c10::is_reduced_floating_point_v<T>, float, T>;

/// x / y rounded up.
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
inline T divup(T x, T y) {
  return static_cast<T>((x + y - 1) / y);
}

/// The smallest n >= 1 with 2^n >= x.
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
T CeilLog2(const T& x) {
  return x <= 2 ? T(1) : static_cast<T>(c10::llvm::Log2_64(static_cast<uint64_t>(x) - 1)) + 1;
}

}  // namespace utils
}  // namespace executorch
