// SPDX-License-Identifier: BSD-3-Clause
// Span<T>: a view of contiguous, mutable elements.
#pragma once

#include <executorch/runtime/platform/assert.h>

#include <cstddef>

namespace executorch {
namespace runtime {

/// Does not own: the elements must outlive it. Copy it by value.
template <typename T>
class Span final {
 public:
  using value_type = T;
  using iterator = T*;
  using size_type = size_t;

  constexpr Span() noexcept : data_(nullptr), length_(0) {}

  Span(T* data, size_t length) : data_(data), length_(length) {
    ET_DCHECK(data_ != nullptr || length_ == 0);
  }

  Span(T* begin, T* end) : data_(begin), length_(static_cast<size_t>(end - begin)) {}

  /* implicit */ constexpr Span(T& single_element) : data_(&single_element), length_(1) {}

  template <size_t N>
  /* implicit */ constexpr Span(T (&Arr)[N]) : data_(Arr), length_(N) {}

  iterator begin() const noexcept {
    return data_;
  }
  iterator end() const noexcept {
    return data_ + length_;
  }
  constexpr T* data() const noexcept {
    return data_;
  }
  constexpr size_t size() const noexcept {
    return length_;
  }
  constexpr bool empty() const noexcept {
    return length_ == 0;
  }

  T& operator[](size_t index) const {
    ET_DCHECK(index < length_);
    return data_[index];
  }

 private:
  T* data_;
  size_type length_;
};

} // namespace runtime
} // namespace executorch
