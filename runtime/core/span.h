// SPDX-License-Identifier: BSD-3-Clause
// Span<T>: a pointer and a length. Does not own; the elements are writable when T is not const.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {

template <typename T>
class Span final {
 public:
  using value_type = T;
  using iterator = T*;
  using size_type = size_t;

  constexpr Span() noexcept : data_(nullptr), length_(0) {}
  /* implicit */ constexpr Span(T* data, size_t length) : data_(data), length_(length) {
    ET_DCHECK(data_ != nullptr || length_ == 0);
  }
  constexpr Span(T* begin, T* end) : data_(begin), length_(static_cast<size_t>(end - begin)) {}
  template <size_t N>
  /* implicit */ constexpr Span(T (&Arr)[N]) : data_(Arr), length_(N) {}
  /* implicit */ constexpr Span(T& single_element) : data_(&single_element), length_(1) {}
  /// A Span<T> is a Span<const T>.
  constexpr operator Span<const T>() const { return {data_, length_}; }

  constexpr iterator begin() const noexcept { return data_; }
  constexpr iterator end() const noexcept { return data_ + length_; }
  constexpr bool empty() const noexcept { return length_ == 0; }
  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return length_; }

  /// `index` must be below size(); checked in debug builds.
  T& operator[](size_t index) const {
    ET_DCHECK(index < length_);
    return data_[index];
  }

 private:
  T* data_;
  size_type length_;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Span;
}  // namespace torch::executor
