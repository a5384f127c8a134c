// SPDX-License-Identifier: BSD-3-Clause
// From a row-major position to coordinates.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// Writes the coordinates of element `linear_index` of `shape` to `out_indexes`, which has room for
/// `out_indexes_len`: fewer than the rank ends the program.
inline void delinearize_index(size_t linear_index, ArrayRef<Tensor::SizesType> shape,
                              size_t* out_indexes, const size_t out_indexes_len) {
  ET_CHECK_MSG(shape.size() <= out_indexes_len, "room for %zu coordinates of a shape of %zu",
               out_indexes_len, shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const size_t size = static_cast<size_t>(shape[i]);
    out_indexes[i] = size == 0 ? 0 : linear_index % size;
    linear_index = size == 0 ? 0 : linear_index / size;
  }
}

inline void delinearize_index(size_t linear_index, const Tensor& t, size_t* out_indexes,
                              const size_t out_indexes_len) {
  delinearize_index(linear_index, t.sizes(), out_indexes, out_indexes_len);
}

}  // namespace executor
}  // namespace torch
