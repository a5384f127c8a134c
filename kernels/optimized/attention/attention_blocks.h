// SPDX-License-Identifier: BSD-3-Clause
// Attention in one pass over blocks of keys, of rows with any strides: what
// scaled_dot_product_attention and the attention on caches are made of.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// Rows of contiguous values; strides count elements.
struct AttentionRows {
  const void* data = nullptr;
  executorch::aten::ScalarType type = executorch::aten::ScalarType::Float;  // or Half, BFloat16
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
  // With type Char each row has a scale and a zero point: value = (code - zero) * scale.
  const float* scales = nullptr;
  const int8_t* zeros = nullptr;
  int64_t param_batch_stride = 0, param_head_stride = 0, param_row_stride = 0;
};

// out[b][h][i] = sum over j of softmax_j(scale * query[b][h][i] . key[b][h'][j] + mask) *
// value[b][h'][j]; each group of heads / key_heads neighbouring heads shares one h'.
struct AttentionProblem {
  int64_t batch = 0, heads = 0, key_heads = 0;
  int64_t queries = 0, keys = 0, depth = 0, value_depth = 0;
  float scale = 1.0f;
  bool causal = false;  // query i sees keys 0 ... first_query + i
  int64_t first_query = 0;
  // Bool (true: allowed), or added to scores (Float, Half, BFloat16); nullptr: none. That of
  // matrix b * heads + h begins where it does when broadcast to `mask_like`, or at 0 without that.
  const executorch::aten::Tensor* mask = nullptr;
  const executorch::aten::Tensor* mask_like = nullptr;
  int64_t mask_row_stride = 0, mask_col_stride = 0;
  AttentionRows query, key, value;
  AttentionRows out;              // written; Float, Half or BFloat16
  bool forbidden_is_nan = false;  // the result of a query that sees no key; else 0
};

// Threaded over heads and queries; over keys, too, where those are few. Sums are f32. Scratch
// memory comes from ctx: on MemoryAllocationFailed nothing has been written.
[[nodiscard]] runtime::Error attend(runtime::KernelRuntimeContext& ctx,
                                    const AttentionProblem& problem);

// The same for several, a thread each, or all threads where that would leave half of them idle;
// results are those of attend() bit for bit. For problems of few queries.
[[nodiscard]] runtime::Error attend_side_by_side(runtime::KernelRuntimeContext& ctx,
                                                 runtime::Span<const AttentionProblem> problems);

}  // namespace executorch::kernels::optimized
