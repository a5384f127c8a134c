// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value or the reason there is none, and the macros that pass the reason on.
#pragma once

#include <pytorch/tokenizers/error.h>
#include <pytorch/tokenizers/log.h>

#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace tokenizers {

/// Move-only. Reading the value of a failed result is a programmer's error: it is asserted.
template <typename T>
class [[nodiscard]] Result final {
 public:
  typedef T value_type;

  /* implicit */ Result(Error error) : error_(error == Error::Ok ? Error::Internal : error) {}
  /* implicit */ Result(const T& value) : value_(value) {}
  /* implicit */ Result(T&& value) : value_(std::move(value)) {}
  Result(Result&&) noexcept = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] Error error() const { return error_; }

  const T& get() const {
    assert(ok());
    return *value_;
  }
  T& get() {
    assert(ok());
    return *value_;
  }
  const T& operator*() const& { return get(); }
  T& operator*() & { return get(); }
  const T* operator->() const { return &get(); }
  T* operator->() { return &get(); }

 private:
  Error error_ = Error::Ok;
  std::optional<T> value_;
};

namespace detail {
template <typename T>
T value_or_throw(Result<T>&& result) {
  if (!result.ok()) {
    throw std::runtime_error(std::string("Tokenizer error: ") + to_string(result.error()));
  }
  return std::move(result.get());
}
}  // namespace detail

}  // namespace tokenizers

/// Logs and returns Error::name unless the condition holds.
#define TK_CHECK_OR_RETURN_ERROR(condition, name, ...) \
  do {                                                 \
    if (!(condition)) {                                \
      TK_LOG(Error, __VA_ARGS__);                      \
      return ::tokenizers::Error::name;                \
    }                                                  \
  } while (false)

/// Returns the error of an expression unless it is Ok.
#define TK_CHECK_OK_OR_RETURN_ERROR(expression)        \
  do {                                                 \
    const ::tokenizers::Error tk_error = (expression); \
    if (tk_error != ::tokenizers::Error::Ok) {         \
      return tk_error;                                 \
    }                                                  \
  } while (false)

/// The value of a result, or returns its error; a message after it is logged then.
#define TK_UNWRAP(result, ...)                \
  ({                                          \
    auto tk_result = (result);                \
    if (!tk_result.ok()) {                    \
      __VA_OPT__(TK_LOG(Error, __VA_ARGS__);) \
      return tk_result.error();               \
    }                                         \
    std::move(tk_result.get());               \
  })

/// The value of a result, or throws std::runtime_error("Tokenizer error: <name>").
#define TK_UNWRAP_THROW(result) ::tokenizers::detail::value_or_throw((result))
