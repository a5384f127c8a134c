// SPDX-License-Identifier: BSD-3-Clause
// Values of a backend's options, as a file encodes them or as the program sets them that runs it,
// and members of structs as their readers; compile_options.h says how they are used. In a file a
// bool is one byte 00 or 01, integers are little-endian of their size, text is UTF-8 without a
// final zero, and Span<const uint8_t> is any bytes, as of a flatbuffer, which the backend verifies.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include <executorch/runtime/backend/interface.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// A value that a file or a program gives for a key. `backend`, for messages, and the value are
/// valid during the call that has it.
struct GivenOption {
  const char* backend;
  const char* key;
  /// Of a mistake in it.
  Error error;
  const SizedBuffer* bytes = nullptr;           // of a compile spec
  const runtime::OptionValue* value = nullptr;  // of a runtime option

  const char* kind() const { return bytes != nullptr ? "compile spec" : "option"; }

  bool is_text() const {
    return value != nullptr &&
           std::holds_alternative<std::array<char, runtime::kMaxOptionValueLength>>(*value);
  }

  /// What it is when it should have been something else.
  Error refuse(const char* expected) const {
    constexpr const char* kFound[] = {"a bool", "an int", "text"};
    ET_LOG(Error, "%s: %s %s: expected %s, found %s", backend, kind(), key, expected,
           value != nullptr ? kFound[value->index()] : "other bytes");
    return error;
  }

  /// The number of `num_bytes` bytes of a file.
  Result<uint64_t> number(size_t num_bytes) const {
    if (bytes->nbytes != num_bytes || bytes->buffer == nullptr) {
      ET_LOG(Error, "%s: compile spec %s: expected %zu bytes, found %zu", backend, key, num_bytes,
             bytes->nbytes);
      return error;
    }
    uint64_t number = 0;
    for (size_t i = num_bytes; i > 0; --i) {
      number = number << 8 | static_cast<const uint8_t*>(bytes->buffer)[i - 1];
    }
    return number;
  }

  Span<const uint8_t> span() const {
    const auto* data = static_cast<const uint8_t*>(bytes->buffer);
    return {data, data == nullptr ? 0 : bytes->nbytes};
  }
};

/// The value as a bool, an integer, bytes, or text: a view of it, or what is made of one.
template <typename T>
Error read_value(const GivenOption& given, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (given.value != nullptr) {
      const bool* flag = std::get_if<bool>(given.value);
      out = flag != nullptr ? *flag : out;
      return flag != nullptr ? Error::Ok : given.refuse("a bool");
    }
    const uint64_t number = ET_UNWRAP(given.number(1));
    if (number > 1) {
      return given.refuse("0 or 1");
    }
    out = number == 1;
  } else if constexpr (std::is_integral_v<T>) {
    if (given.value != nullptr) {
      const int* number = std::get_if<int>(given.value);
      const bool is_held =
          number != nullptr && static_cast<int>(static_cast<T>(*number)) == *number;
      out = is_held ? static_cast<T>(*number) : out;
      return is_held ? Error::Ok : given.refuse("an int");
    }
    out = static_cast<T>(ET_UNWRAP(given.number(sizeof(T))));
  } else if constexpr (std::is_same_v<T, Span<const uint8_t>>) {
    if (given.value != nullptr) {
      return given.refuse("a compile spec");
    }
    out = given.span();
  } else if (given.value != nullptr) {
    const auto* text = std::get_if<std::array<char, runtime::kMaxOptionValueLength>>(given.value);
    if (text == nullptr) {
      return given.refuse("text");
    }
    out = T(std::string_view(text->data(),
                             std::find(text->begin(), text->end(), '\0') - text->begin()));
  } else {
    const Span<const uint8_t> bytes = given.span();
    out = T(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return Error::Ok;
}

namespace internal {

template <typename Member>
struct OwnerOf;
template <typename Options, typename T>
struct OwnerOf<T Options::*> {
  using type = Options;
};

}  // namespace internal

/// Reads a member of a struct; with several, of a struct in it: read_option<&S::inner,
/// &Inner::member>.
template <auto Member, auto... Inner>
Error read_option(const GivenOption& given,
                  typename internal::OwnerOf<decltype(Member)>::type& out) {
  if constexpr (sizeof...(Inner) == 0) {
    return read_value(given, out.*Member);
  } else {
    return read_option<Inner...>(given, out.*Member);
  }
}

/// Checks the type of an option that has no effect.
template <typename T, typename Options>
Error check_option(const GivenOption& given, Options&) {
  T unused{};
  return read_value(given, unused);
}

/// Takes any value of an option that has no effect.
template <typename Options>
Error skip_option(const GivenOption&, Options&) {
  return Error::Ok;
}

/// A bool, an int, or text, which is cut where it does not fit.
template <auto Member>
runtime::OptionValue write_option(
    const typename internal::OwnerOf<decltype(Member)>::type& options) {
  const auto& value = options.*Member;
  using T = std::decay_t<decltype(value)>;
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int>(value);
  } else {
    std::array<char, runtime::kMaxOptionValueLength> text{};
    const std::string_view view(value);
    view.copy(text.data(), text.size() - 1);
    return text;
  }
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
