// SPDX-License-Identifier: BSD-3-Clause
// Map and reduce along a line of elements that lie `stride` apart.
#pragma once

#include <cstdint>

namespace torch {
namespace executor {

/// reduce(value, accumulated) over `size` > 0 elements, from the first on.
template <typename CTYPE, typename ReduceOp>
inline CTYPE apply_unary_reduce_fn(const ReduceOp& reduce_fun, const CTYPE* const data_in,
                                   const int64_t size, const int64_t stride = 1) {
  CTYPE accumulated = data_in[0];
  for (int64_t i = 1; i < size; ++i) {
    accumulated = reduce_fun(data_in[i * stride], accumulated);
  }
  return accumulated;
}

/// out[i] = map(in[i]), both with the stride.
template <typename CTYPE_IN, typename CTYPE_OUT, typename MapOp>
inline void apply_unary_map_fn(const MapOp& map_fun, const CTYPE_IN* const data_in,
                               CTYPE_OUT* const data_out, const int64_t size,
                               const int64_t stride = 1) {
  for (int64_t i = 0; i < size; ++i) {
    data_out[i * stride] = map_fun(data_in[i * stride]);
  }
}

/// reduce(map(value), accumulated) over `size` > 0 elements.
template <typename CTYPE_IN, typename CTYPE_OUT, typename MapOp, typename ReduceOp>
inline CTYPE_OUT apply_unary_map_reduce_fn(const MapOp& map_fun, const ReduceOp& reduce_fun,
                                           const CTYPE_IN* const data_in, const int64_t size,
                                           const int64_t stride = 1) {
  CTYPE_OUT accumulated = map_fun(data_in[0]);
  for (int64_t i = 1; i < size; ++i) {
    accumulated = reduce_fun(map_fun(data_in[i * stride]), accumulated);
  }
  return accumulated;
}

}  // namespace executor
}  // namespace torch
