// SPDX-License-Identifier: BSD-3-Clause
// How attention_blocks.cpp parts a problem into tasks.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/attention/attention_blocks.h>
#include <executorch/kernels/optimized/ranges.h>

namespace executorch::kernels::optimized {

inline constexpr int64_t kRows = 192;  // of a task, at most
inline constexpr int64_t kKeys = 192;  // of a block, about
inline constexpr int64_t kMaxKeys = 288;
inline constexpr int64_t kFewRows = 8;  // up to which keys and values are read in place
inline constexpr int64_t kNear = 16;    // keys that each head copies before the next does

// One head of keys of one batch.
struct Place {
  int64_t batch, key_head;
};

// What a task does, for one or more neighbouring heads of keys.
struct Task {
  Place place;  // the first of them
  Range rows;   // of queries * group, those of a query side by side
  Range keys;
};

struct AttentionPlan {
  const AttentionProblem& problem;
  int64_t threads = 1;       // that share it
  int64_t group = 0;         // heads that share keys
  int64_t rows = 0;          // queries * group
  int64_t padded_depth = 0;  // of copied values
  int64_t score_stride = 0;  // keys of a block
  bool few = false;          // rows, kFewRows at most
  bool queries_in_place = false, keys_in_place = false, values_in_place = false;
  int64_t row_blocks = 0, rows_per_block = 0, key_splits = 1, keys_per_split = 0;
  int64_t heads = 1;  // of keys, of a task
};

AttentionPlan plan_of(const AttentionProblem& problem, int64_t threads);

// The task of a number below batch * key_heads / heads * row_blocks * key_splits. Those of the same
// rows are neighbours.
Task task_at(const AttentionPlan& plan, int64_t index);

}  // namespace executorch::kernels::optimized
