// SPDX-License-Identifier: BSD-3-Clause
// Rows of new keys or values, written into a cache in place. Both [batch, rows, heads, depth], in
// row-major order, with elements of one size; or Float values, which a cache of Half or BFloat16
// holds rounded. `output` is not touched. Wrong arguments and rows beyond the cache:
// InvalidArgument, and nothing has been written.
#pragma once

#include <cstdint>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;

// cache[b][start_pos + s] = value[b][s].
Tensor& update_cache_out(RuntimeContext& ctx, const Tensor& value, Tensor& cache,
                         const int64_t start_pos, Tensor& output);

// cache[b][indices[b][s]] = value[b][s]; of equal indices the last s. `start_pos` is only checked.
Tensor& update_cache_with_indices_out(RuntimeContext& ctx, const Tensor& value, Tensor& cache,
                                      const int64_t start_pos, const Tensor& indices,
                                      Tensor& output);

}  // namespace native
}  // namespace executor
}  // namespace torch
