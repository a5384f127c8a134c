// SPDX-License-Identifier: BSD-3-Clause
// FunctionRef<R(Args...)>: a view of a callable.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace executorch {
namespace runtime {
namespace internal {

template <typename T>
struct remove_cvref {
  using type = std::remove_cv_t<std::remove_reference_t<T>>;
};
template <typename T>
using remove_cvref_t = typename remove_cvref<T>::type;

} // namespace internal

template <typename Fn>
class FunctionRef;

/// Does not own: the callable must outlive every call. Two pointers wide; pass it by value.
template <typename Ret, typename... Params>
class FunctionRef<Ret(Params...)> {
 public:
  FunctionRef() = default;
  FunctionRef(std::nullptr_t) {}

  template <typename Callable>
  FunctionRef(
      Callable&& callable,
      std::enable_if_t<
          !std::is_same<internal::remove_cvref_t<Callable>, FunctionRef>::value>* = nullptr,
      std::enable_if_t<
          std::is_void<Ret>::value ||
          std::is_convertible<
              decltype(std::declval<Callable>()(std::declval<Params>()...)),
              Ret>::value>* = nullptr)
      : callback_(call<std::remove_reference_t<Callable>>),
        callable_(reinterpret_cast<intptr_t>(&callable)) {}

  Ret operator()(Params... params) const {
    return callback_(callable_, std::forward<Params>(params)...);
  }

  explicit operator bool() const {
    return callback_ != nullptr;
  }

  bool operator==(const FunctionRef<Ret(Params...)>& Other) const {
    return callable_ == Other.callable_;
  }

 private:
  template <typename Callable>
  static Ret call(intptr_t callable, Params... params) {
    return (*reinterpret_cast<Callable*>(callable))(std::forward<Params>(params)...);
  }

  Ret (*callback_)(intptr_t callable, Params... params) = nullptr;
  intptr_t callable_ = 0;
};

} // namespace runtime
} // namespace executorch
