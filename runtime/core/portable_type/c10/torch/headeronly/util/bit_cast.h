// SPDX-License-Identifier: BSD-3-Clause
// bit_cast of C++20.
#pragma once

#include <cstring>
#include <type_traits>

namespace c10 {

template <class To, class From>
std::enable_if_t<sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> &&
                     std::is_trivially_copyable_v<To>,
                 To>
bit_cast(const From& src) noexcept {
  To dst;
  std::memcpy(&dst, &src, sizeof(To));
  return dst;
}

}  // namespace c10
