// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value, or the Error that took its place.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Holds a T when ok(), an Error otherwise. Reading the value of a failed result ends the program:
/// ask ok() first, or use ET_UNWRAP. A moved-from result stays as it was, with a moved-from value.
template <typename T>
class [[nodiscard]] Result final {
 public:
  using value_type = T;

  /// A failure. Error::Ok is none and becomes Error::Internal.
  /* implicit */ Result(Error error)
      : error_(error == Error::Ok ? Error::Internal : error), hasValue_(false) {
    if (ET_UNLIKELY(error == Error::Ok)) {
      ET_LOG(Debug, "A Result was made from Error::Ok: it becomes Error::Internal");
    }
  }
  /* implicit */ Result(const T& val) : value_(val), hasValue_(true) {}
  /* implicit */ Result(T&& val) : value_(std::move(val)), hasValue_(true) {}

  Result(Result&& rhs) noexcept : hasValue_(rhs.hasValue_) {
    if (hasValue_) {
      new (const_cast<MutableT*>(&value_)) T(std::move(rhs.value_));
    } else {
      new (&error_) Error(rhs.error_);
    }
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  ~Result() {
    if (hasValue_) {
      value_.~T();
    }
  }

  ET_NODISCARD bool ok() const { return hasValue_; }
  ET_NODISCARD Error error() const { return hasValue_ ? Error::Ok : error_; }

  T& get() {
    CheckOk();
    return value_;
  }
  const T& get() const {
    CheckOk();
    return value_;
  }
  T& operator*() & { return get(); }
  const T& operator*() const& { return get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

 private:
  using MutableT = std::remove_const_t<T>;

  void CheckOk() const { ET_CHECK(hasValue_); }

  union {
    T value_;
    Error error_;
  };
  const bool hasValue_;
};

}  // namespace runtime
}  // namespace executorch

/// ET_ASSIGN_OR_RETURN(x, expression [, format, ...]): declares x with the value of a Result, or
/// returns its error, logging the message. The form of ET_UNWRAP for
/// every compiler.
#define ET_ASSIGN_OR_RETURN(lhs__, ...)                                       \
  ET_INTERNAL_ASSIGN_OR_RETURN(ET_INTERNAL_JOIN(et_result_, __LINE__), lhs__, \
                               ET_INTERNAL_FIRST(__VA_ARGS__, 0), (__VA_ARGS__))

#define ET_INTERNAL_JOIN2(a, b) a##b
#define ET_INTERNAL_JOIN(a, b) ET_INTERNAL_JOIN2(a, b)
#define ET_INTERNAL_FIRST(first, ...) first
#define ET_INTERNAL_ASSIGN_OR_RETURN(name__, lhs__, result__, args__) \
  auto name__ = (result__);                                           \
  ET_INTERNAL_RETURN_UNLESS_OK(name__, args__);                       \
  auto lhs__ = std::move(*name__)

// `args__` is "(result, format, ...)" or "(result)".
#define ET_INTERNAL_RETURN_UNLESS_OK(name__, args__) \
  do {                                               \
    if (ET_UNLIKELY(!name__.ok())) {                 \
      ET_INTERNAL_LOG_REST args__;                   \
      return name__.error();                         \
    }                                                \
  } while (0)
#define ET_INTERNAL_LOG_REST(...)                                                              \
  ET_INTERNAL_ONE_OR_MORE(__VA_ARGS__, ET_INTERNAL_LOG_SKIP_FIRST, ET_INTERNAL_LOG_SKIP_FIRST, \
                          ET_INTERNAL_LOG_SKIP_FIRST, ET_INTERNAL_LOG_SKIP_FIRST,              \
                          ET_INTERNAL_LOG_SKIP_FIRST, ET_INTERNAL_LOG_SKIP_FIRST,              \
                          ET_INTERNAL_LOG_SKIP_FIRST, ET_INTERNAL_LOG_SKIP_FIRST,              \
                          ET_INTERNAL_LOG_SKIP_FIRST, ET_INTERNAL_LOG_NOTHING, 0)              \
  (__VA_ARGS__)
#define ET_INTERNAL_LOG_SKIP_FIRST(first, message__, ...) ET_LOG(Error, message__, ##__VA_ARGS__)
#define ET_INTERNAL_LOG_NOTHING(first) ((void)0)

#if ET_HAVE_GNU_STATEMENT_EXPRESSIONS
/// ET_UNWRAP(expression [, format, ...]): the value of a Result; on failure logs the message and
/// returns the error from the enclosing function.
#define ET_UNWRAP(result__, ...)                                   \
  ({                                                               \
    auto et_result__ = (result__);                                 \
    ET_INTERNAL_RETURN_UNLESS_OK(et_result__, (0, ##__VA_ARGS__)); \
    std::move(*et_result__);                                       \
  })
#endif

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Result;
}  // namespace torch::executor
