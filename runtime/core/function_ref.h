// SPDX-License-Identifier: BSD-3-Clause
// FunctionRef<R(A...)>: a callable passed by reference, two words, no allocation. Valid only as
// long as what it refers to: take it as a parameter, never store it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace executorch {
namespace runtime {

namespace internal {
template <typename T>
using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<T>>;
}  // namespace internal

template <typename Fn>
class FunctionRef;

template <typename Ret, typename... Params>
class FunctionRef<Ret(Params...)> {
 public:
  FunctionRef() = default;
  FunctionRef(std::nullptr_t) {}

  template <typename Callable>
  FunctionRef(
      Callable&& callable,
      std::enable_if_t<!std::is_same<internal::remove_cvref_t<Callable>, FunctionRef>::value>* =
          nullptr,
      std::enable_if_t<
          std::is_void<Ret>::value ||
          std::is_convertible<decltype(std::declval<Callable>()(std::declval<Params>()...)),
                              Ret>::value>* = nullptr)
      : call_(call_as<std::remove_reference_t<Callable>>),
        callable_(reinterpret_cast<intptr_t>(&callable)) {}

  Ret operator()(Params... params) const {
    return call_(callable_, std::forward<Params>(params)...);
  }
  explicit operator bool() const { return call_ != nullptr; }
  bool operator==(const FunctionRef<Ret(Params...)>& Other) const {
    return callable_ == Other.callable_;
  }

 private:
  template <typename Callable>
  static Ret call_as(intptr_t callable, Params... params) {
    return (*reinterpret_cast<Callable*>(callable))(std::forward<Params>(params)...);
  }

  Ret (*call_)(intptr_t callable, Params... params) = nullptr;
  intptr_t callable_ = 0;
};

}  // namespace runtime
}  // namespace executorch
