// SPDX-License-Identifier: BSD-3-Clause
// 128 bits that stand for bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace executorch::backends::xnnpack {

/// A number that differs from process to process.
uint64_t process_seed();

/// Bytes in parts; others of the same seed are equal when their bytes are. Who does not know the
/// seed cannot make bytes that equal others.
class Fingerprint final {
 public:
  using Value = std::pair<uint64_t, uint64_t>;

  explicit Fingerprint(uint64_t seed);
  void add(const void* data, size_t size);
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "no padding");
    add(&value, sizeof(value));
  }
  Value value() const;

  static Value of(const void* data, size_t size, uint64_t seed);

 private:
  static constexpr size_t kLanes = 4;  // side by side in the processor
  uint64_t lanes_[kLanes];
  uint64_t secrets_[kLanes];
};

}  // namespace executorch::backends::xnnpack
