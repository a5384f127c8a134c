// SPDX-License-Identifier: BSD-3-Clause
// Setting: a number of a configuration that knows whether somebody set it.
#pragma once

namespace executorch::extension::llm {

// Reads and is assigned as a T. One that nobody set gives way to what a program says.
template <typename T>
class Setting {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): configurations are written as with plain numbers
  constexpr Setting(T value) : value_(value), is_given_(true) {}
  static constexpr Setting unless_given(T value) {
    Setting setting(value);
    setting.is_given_ = false;
    return setting;
  }

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator T() const { return value_; }
  constexpr bool is_given() const { return is_given_; }

 private:
  T value_;
  bool is_given_;
};

}  // namespace executorch::extension::llm
