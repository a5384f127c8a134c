// SPDX-License-Identifier: BSD-3-Clause
// Attention in one pass over blocks of keys, of rows with any strides: what
// scaled_dot_product_attention and the attention on caches are made of.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/ranges.h>
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

// Scores of some rows, which are the queries of the heads that share a head of keys: those of a
// query side by side. Row i, key j is at data[i * stride + j].
struct Scores {
  int64_t batch, key_head;
  Range rows, keys;
  float* data;
  int64_t stride;
};

// What happens to scores before their softmax, a block at a time and from several threads.
class ScoreStep {
 public:
  virtual ~ScoreStep() = default;
  virtual void apply(const Scores& scores) const = 0;
};

// out[b][h][i] = sum over j of softmax_j(step(scale * query[b][h][i] . key[b][h'][j])) *
// value[b][h'][j]; each group of heads / key_heads neighbouring heads shares one h'.
struct AttentionProblem {
  int64_t batch = 0, heads = 0, key_heads = 0;
  int64_t queries = 0, keys = 0, depth = 0, value_depth = 0;
  float scale = 1.0f;
  bool causal = false;  // query i sees keys 0 ... first_query + i
  int64_t first_query = 0;
  const ScoreStep* step = nullptr;  // or none
  // Of keys, floats: row_stride is between their values, and keys lie side by side.
  bool keys_in_columns = false;
  AttentionRows query, key, value;
  AttentionRows out;  // written; Float, Half or BFloat16
  const Epilogue* epilogue =
      nullptr;                    // of rows of all heads' queries, where no head shares its keys
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
