// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value or an Error.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>

#include <new>
#include <type_traits>
#include <utility>

namespace executorch {
namespace runtime {

/// What a fallible function returns. Move-only when T is. Taking the value of a failed Result aborts: ask ok() first.
template <typename T>
class ET_NODISCARD Result final {
  // References are held as pointers.
  using Stored = std::conditional_t<
      std::is_reference_v<T>,
      std::remove_reference_t<T>*,
      std::remove_const_t<T>>;

 public:
  using value_type = T;

  /// A failure. `error` must not be Ok: an Ok without a value becomes Internal.
  /* implicit */ Result(Error error)
      : error_(error == Error::Ok ? Error::Internal : error), hasValue_(false) {}

  /* implicit */ Result(const T& val) : hasValue_(true) {
    new (&value_) Stored(val);
  }

  /* implicit */ Result(T&& val) : hasValue_(true) {
    new (&value_) Stored(std::move(val));
  }

  Result(Result&& rhs) noexcept : hasValue_(rhs.hasValue_) {
    if (hasValue_) {
      new (&value_) Stored(std::move(rhs.value_));
    } else {
      error_ = rhs.error_;
    }
  }

  ~Result() {
    if (hasValue_) {
      value_.~Stored();
    }
  }

  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  ET_NODISCARD bool ok() const {
    return hasValue_;
  }

  ET_NODISCARD Error error() const {
    return hasValue_ ? Error::Ok : error_;
  }

  T& get() {
    CheckOk();
    return value_;
  }
  const T& get() const {
    CheckOk();
    return value_;
  }

  T& operator*() {
    return get();
  }
  const T& operator*() const {
    return get();
  }

  T* operator->() {
    return &get();
  }
  const T* operator->() const {
    return &get();
  }

 private:
  void CheckOk() const {
    ET_CHECK(hasValue_);
  }

  union {
    Stored value_;
    Error error_;
  };
  const bool hasValue_;
};

} // namespace runtime
} // namespace executorch

/// The value of a Result expression, or return its error from the calling function: (result) or (result, format, ...).
#define ET_UNWRAP(result__, ...)                                        \
  ({                                                                    \
    auto et_result__ = (result__);                                      \
    if (ET_UNLIKELY(!et_result__.ok())) {                               \
      ET_INTERNAL_LOG_IF_ANY(__VA_ARGS__);                              \
      return et_result__.error();                                       \
    }                                                                   \
    std::move(*et_result__);                                            \
  })

#define ET_INTERNAL_LOG_IF_ANY(...) \
  __VA_OPT__(ET_LOG(Error, __VA_ARGS__))

/// Declares `var` as the value of a Result expression, or returns its error: ET_ASSIGN_OR_RETURN(var, expr) or (var, expr, format, ...).
#define ET_ASSIGN_OR_RETURN(var__, result__, ...)                       \
  ET_INTERNAL_ASSIGN_OR_RETURN(                                         \
      ET_INTERNAL_JOIN(et_result_, __LINE__), var__, result__, ##__VA_ARGS__)
#define ET_INTERNAL_JOIN(a, b) ET_INTERNAL_JOIN_AGAIN(a, b)
#define ET_INTERNAL_JOIN_AGAIN(a, b) a##b
#define ET_INTERNAL_ASSIGN_OR_RETURN(tmp__, var__, result__, ...) \
  auto tmp__ = (result__);                                        \
  if (ET_UNLIKELY(!tmp__.ok())) {                                 \
    ET_INTERNAL_LOG_IF_ANY(__VA_ARGS__);                          \
    return tmp__.error();                                         \
  }                                                               \
  auto var__ = std::move(*tmp__)
