// SPDX-License-Identifier: BSD-3-Clause
// What all operators that write caches share.
#pragma once

#include <cstdint>

#include <executorch/kernels/portable/loops/checks.h>

namespace executorch::extension::llm {

// Whether rows [start, start + rows of value) of every batch of `cache` can take `value`.
bool check_cache_rows(const kernels::OpCall& call, const aten::Tensor& value,
                      const aten::Tensor& cache, int64_t start);

// Writes them; the arguments have been checked.
void write_cache_rows(const aten::Tensor& value, const aten::Tensor& cache, int64_t start);

}  // namespace executorch::extension::llm
