// SPDX-License-Identifier: BSD-3-Clause
// How a table of XNNPACK's, which says what kernels are used, becomes one of ours: a copy with some
// kernels changed, made once. The function that XNNPACK calls for a table is ours, its own has
// another name (xnnpack_replaces() in corrections.cmake).
#pragma once

#include <type_traits>

namespace executorch::backends::xnnpack {

/// Of a lambda without captures: each has a type, and a table, of its own. None stays none.
template <typename Table, typename Change>
const Table* changed(const Table* theirs, Change change) {
  static_assert(std::is_empty_v<Change>);
  if (theirs == nullptr) {
    return nullptr;
  }
  static const Table ours = [&] {
    Table made = *theirs;
    change(made);
    return made;
  }();
  return &ours;
}

}  // namespace executorch::backends::xnnpack
