// SPDX-License-Identifier: BSD-3-Clause
// Tables of functions that SIMD files fill, one a target. Included after <hwy/foreach_target.h>.
#pragma once

#include <hwy/highway.h>

#include <type_traits>

// Once, behind HWY_AFTER_NAMESPACE(): `const Table& name()` is what `const Table* name_of_target()`
// gives in the namespace of the best target that the processor has.
#define ET_SIMD_TABLE(Table, name)                    \
  namespace executorch::kernels::optimized {          \
  HWY_EXPORT(name##_of_target);                       \
  const Table& name() {                               \
    return *HWY_DYNAMIC_DISPATCH(name##_of_target)(); \
  }                                                   \
  }  // namespace executorch::kernels::optimized

namespace executorch::kernels::optimized {

// table[r - 1][v - 1] = tile(r, v) for all sizes of a tile; `tile` takes them as constants.
template <int kRows, int kVectors, typename Table, typename Tile>
constexpr void fill_tiles(Table& table, const Tile& tile) {
  table[kRows - 1][kVectors - 1] =
      tile(std::integral_constant<int, kRows>(), std::integral_constant<int, kVectors>());
  if constexpr (kVectors > 1) {
    fill_tiles<kRows, kVectors - 1>(table, tile);
  } else if constexpr (kRows > 1) {
    fill_tiles<kRows - 1, std::extent_v<Table, 1>>(table, tile);
  }
}

}  // namespace executorch::kernels::optimized
