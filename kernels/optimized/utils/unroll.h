// SPDX-License-Identifier: BSD-3-Clause
// A loop of n steps, written out.
#pragma once

#include <type_traits>

namespace executorch {
namespace utils {

/// ForcedUnroll<n>()(f, args...) calls f(i, args...) for i from 0 to n - 1, each i an
/// integral_constant.
template <int n>
struct ForcedUnroll {
  template <typename Func, typename... Args>
  inline void operator()(const Func& f, Args... args) const {
    ForcedUnroll<n - 1>{}(f, args...);
    f(std::integral_constant<int, n - 1>{}, args...);
  }
};
template <>
struct ForcedUnroll<1> {
  template <typename Func, typename... Args>
  inline void operator()(const Func& f, Args... args) const {
    f(std::integral_constant<int, 0>{}, args...);
  }
};

}  // namespace utils
}  // namespace executorch
