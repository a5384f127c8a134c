// SPDX-License-Identifier: BSD-3-Clause
// Options of backends: named values that users set before or between calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <variant>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// Bytes of a key and of a string value, the final NUL included.
static constexpr size_t kMaxOptionKeyLength = 64;
static constexpr size_t kMaxOptionValueLength = 256;

/// A bool, an int or a NUL-terminated string.
using OptionValue = std::variant<bool, int, std::array<char, kMaxOptionValueLength>>;

/// Holds its key and value, no pointers.
struct BackendOption {
  char key[kMaxOptionKeyLength]{};
  OptionValue value;
};

namespace internal {

/// The value of type T of the option `key` (at most `key_size` bytes); NotFound, or InvalidArgument
/// when it has another type. T is bool, int or const char*; the string is the option's.
template <typename T>
Error find_option(Span<const BackendOption> options, const char* key, T& out) {
  for (const BackendOption& option : options) {
    if (std::strncmp(option.key, key, kMaxOptionKeyLength) != 0) {
      continue;
    }
    if constexpr (std::is_same_v<T, const char*>) {
      const auto* text = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value);
      ET_CHECK_OR_RETURN_ERROR(text != nullptr, InvalidArgument, "option %s is not a string", key);
      out = text->data();
    } else {
      const auto* value = std::get_if<T>(&option.value);
      ET_CHECK_OR_RETURN_ERROR(value != nullptr, InvalidArgument, "option %s has another type",
                               key);
      out = *value;
    }
    return Error::Ok;
  }
  return Error::NotFound;
}

}  // namespace internal

/// Up to MaxCapacity options by key. Owns them; view() refers into the object.
template <size_t MaxCapacity>
class BackendOptions {
 public:
  BackendOptions() = default;
  BackendOptions(const BackendOptions& other) = default;
  BackendOptions& operator=(const BackendOptions& other) = default;

  /// All options that are set.
  executorch::runtime::Span<BackendOption> view() { return {options_.data(), size_}; }

  /// Adds an option or replaces its value. InvalidArgument when all places are taken or the text is
  /// too long.
  template <size_t N>
  Error set_option(const char (&key)[N], bool value) {
    static_assert(N <= kMaxOptionKeyLength, "Option key is too long");
    return set_value(key, value);
  }
  template <size_t N>
  Error set_option(const char (&key)[N], int value) {
    static_assert(N <= kMaxOptionKeyLength, "Option key is too long");
    return set_value(key, value);
  }
  template <size_t N>
  Error set_option(const char (&key)[N], const char* value) {
    static_assert(N <= kMaxOptionKeyLength, "Option key is too long");
    ET_CHECK_MSG(value != nullptr, "option %s: null string", key);
    const size_t length = std::strlen(value);
    ET_CHECK_OR_RETURN_ERROR(length < kMaxOptionValueLength, InvalidArgument,
                             "option %s: value of %zu bytes, at most %zu", key, length,
                             kMaxOptionValueLength - 1);
    std::array<char, kMaxOptionValueLength> text{};
    std::memcpy(text.data(), value, length);
    return set_value(key, text);
  }

  /// The value of an option; T is bool, int or const char*, which refers into the object. NotFound
  /// when it is not set, InvalidArgument when it has another type.
  template <typename T, size_t KeyLen>
  Error get_option(const char (&key)[KeyLen], T& out) const {
    static_assert(KeyLen <= kMaxOptionKeyLength, "Option key is too long");
    return internal::find_option(Span<const BackendOption>(options_.data(), size_), key, out);
  }

 private:
  Error set_value(const char* key, const OptionValue& value) {
    size_t place = 0;
    while (place < size_ && std::strcmp(options_[place].key, key) != 0) {
      ++place;
    }
    if (place == size_) {
      ET_CHECK_OR_RETURN_ERROR(size_ < MaxCapacity, InvalidArgument,
                               "no place for option %s: %zu are set", key, size_);
      std::strncpy(options_[place].key, key, kMaxOptionKeyLength - 1);
      ++size_;
    }
    options_[place].value = value;
    return Error::Ok;
  }

  std::array<BackendOption, MaxCapacity> options_{};
  size_t size_ = 0;
};

}  // namespace runtime
}  // namespace executorch
