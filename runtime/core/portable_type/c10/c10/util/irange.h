// SPDX-License-Identifier: BSD-3-Clause
// for (auto i : c10::irange(n)) and for (auto i : c10::irange(a, b)).
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include <torch/headeronly/util/TypeSafeSignMath.h>

namespace c10 {

namespace detail {

/// one_sided: the range starts at 0, and a negative end means an empty range.
template <typename I, bool one_sided = false, std::enable_if_t<std::is_integral_v<I>, int> = 0>
struct integer_iterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = I;
  using difference_type = std::ptrdiff_t;
  using pointer = I*;
  using reference = I&;

  explicit constexpr integer_iterator(I val) : value(val) {}

  constexpr I operator*() const { return value; }
  constexpr I const* operator->() const { return &value; }
  constexpr integer_iterator& operator++() {
    ++value;
    return *this;
  }
  constexpr integer_iterator operator++(int) {
    const auto copy = *this;
    ++*this;
    return copy;
  }
  constexpr bool operator==(const integer_iterator& other) const {
    if constexpr (one_sided) {
      return is_negative(other.value) || value == other.value;
    } else {
      return value == other.value;
    }
  }
  constexpr bool operator!=(const integer_iterator& other) const { return !(*this == other); }

 protected:
  I value;
};

}  // namespace detail

template <typename I, bool one_sided = false, std::enable_if_t<std::is_integral_v<I>, bool> = true>
struct integer_range {
  using iterator = detail::integer_iterator<I, one_sided>;

  constexpr integer_range(I begin, I end) : begin_(begin), end_(end) {}
  constexpr iterator begin() const { return begin_; }
  constexpr iterator end() const { return end_; }

 private:
  iterator begin_;
  iterator end_;
};

/// [begin, end), empty when end < begin; elements have the type of `end`.
template <typename Integer1, typename Integer2,
          std::enable_if_t<std::is_integral_v<Integer1>, bool> = true,
          std::enable_if_t<std::is_integral_v<Integer2>, bool> = true>
constexpr integer_range<Integer2> irange(Integer1 begin, Integer2 end) {
  const Integer2 first = static_cast<Integer2>(begin);
  return {first, first < end ? end : first};
}

/// [0, end), empty when end is negative.
template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, bool> = true>
constexpr integer_range<Integer, true> irange(Integer end) {
  return {Integer(), end};
}

}  // namespace c10
