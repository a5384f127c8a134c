// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/optimized/attention/attention_plan.h>

#include <algorithm>

#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>

namespace executorch::kernels::optimized {

namespace {

using executorch::aten::ScalarType;

// All blocks have about as many.
int64_t keys_of_block(int64_t keys) {
  const int64_t blocks = std::max<int64_t>(1, (keys + kMaxKeys - kKeys) / kKeys);
  return div_up(keys, blocks);
}

// How many tasks share the rows of a head: as many for each thread, where that makes none too small
// to be worth the reading of its keys.
int64_t row_blocks_of(const AttentionPlan& plan) {
  constexpr int64_t kLeastRows = 24;
  const int64_t heads = plan.problem.batch * plan.problem.key_heads;
  const int64_t rows = kRows * kKeys / std::max(kKeys, keys_of_block(plan.problem.keys));
  const int64_t threads = plan.threads, least = div_up(plan.rows, rows);
  for (int64_t blocks = least; plan.rows >= blocks * kLeastRows; ++blocks) {
    if (heads * blocks % threads == 0) {
      return blocks;
    }
  }
  return least;
}

// How many tasks share the keys of a head, so that every thread has some.
int64_t splits_of(const AttentionPlan& plan, int64_t tasks) {
  constexpr int64_t kTasksPerThread = 4;
  const AttentionProblem& p = plan.problem;
  const int64_t threads = plan.threads;
  const int64_t work = plan.rows * p.keys * std::max<int64_t>(1, p.depth + p.value_depth);
  if (threads == 1 || plan.row_blocks > 1 || tasks >= kTasksPerThread * threads ||
      tasks * work < 2 * kMinWorkPerTask) {
    return 1;
  }
  return std::clamp<int64_t>(div_up(kTasksPerThread * threads, tasks), 1, div_up(p.keys, kKeys));
}

// The rows of a cache hold all heads: a head's keys are a page apart or more, and read one head
// after the other they come from memory at a fraction of its speed.
bool reads_by_keys(const AttentionPlan& plan) {
  const AttentionRows& key = plan.problem.key;
  return plan.few && plan.problem.key_heads > 1 && key.row_stride > key.head_stride;
}

// Few queries read any floats as they are.
bool is_in_place(const AttentionPlan& plan, ScalarType type) {
  return type == ScalarType::Float || (plan.few && type != ScalarType::Char);
}

// How many tasks share the keys where each has all heads: as many on one thread as on many, so that
// sums are the same. Each costs a softmax for every head, so there are twice as many for four times
// the keys; a power of two, so that threads have the same number.
int64_t shares_of(int64_t keys) {
  constexpr int64_t kShares = 8, kFewest = 64, kMax = 256;  // keys: of two tasks, of one
  int64_t shares = 1;
  while (shares < kShares && keys >= kFewest * shares * shares) {
    shares *= 2;
  }
  return std::max(shares, div_up(keys, kMax));
}

}  // namespace

Task task_at(const AttentionPlan& plan, int64_t index) {
  const int64_t split = index % plan.key_splits;
  const int64_t block = index / plan.key_splits % plan.row_blocks;
  const int64_t matrix = index / plan.key_splits / plan.row_blocks * plan.heads;
  const int64_t first_row = block * plan.rows_per_block, first_key = split * plan.keys_per_split;
  const AttentionProblem& p = plan.problem;
  return {{matrix / p.key_heads, matrix % p.key_heads},
          {first_row, std::min(first_row + plan.rows_per_block, plan.rows)},
          {first_key, std::min(first_key + plan.keys_per_split, p.keys)}};
}

AttentionPlan plan_of(const AttentionProblem& p, int64_t threads) {
  const int64_t lanes = gemm_kernels().lanes;
  AttentionPlan plan{p, threads};
  plan.group = p.heads / p.key_heads;
  plan.padded_depth = div_up(p.value_depth, lanes) * lanes;
  plan.rows = p.queries * plan.group;
  plan.few = plan.rows <= kFewRows && !p.keys_in_columns;
  // Rows of a cache are so far apart that each is in a page of its own: copied where many queries
  // read them.
  const bool whole = p.value_depth % lanes == 0 && p.value.row_stride == p.value_depth;
  plan.queries_in_place =
      p.query.type == ScalarType::Float && p.scale == 1.0f && plan.group == 1 && !plan.few;
  plan.keys_in_place = is_in_place(plan, p.key.type);
  plan.values_in_place = is_in_place(plan, p.value.type) && (plan.few || whole);
  plan.rows_per_block = div_up(plan.rows, row_blocks_of(plan));
  plan.row_blocks = div_up(plan.rows, plan.rows_per_block);
  int64_t unit = kKeys;  // of a split
  if (reads_by_keys(plan)) {
    plan.heads = p.key_heads;
    unit = kNear;
    plan.key_splits = shares_of(p.keys);
  } else {
    plan.key_splits = splits_of(plan, p.batch * p.key_heads * plan.row_blocks);
  }
  plan.key_splits = std::max<int64_t>(1, plan.key_splits);
  plan.keys_per_split = div_up(div_up(p.keys, plan.key_splits), unit) * unit;
  plan.key_splits = std::max<int64_t>(1, div_up(p.keys, std::max<int64_t>(1, plan.keys_per_split)));
  plan.score_stride = std::max<int64_t>(1, keys_of_block(std::min(p.keys, plan.keys_per_split)));
  return plan;
}

}  // namespace executorch::kernels::optimized
