// SPDX-License-Identifier: BSD-3-Clause
// A task takes some rows of one head of keys, which are the queries of all heads that share it, and
// keeps, per row, the weighted sum of values so far and its running softmax. The scores of a block
// never leave the cache. Where rows are few and keys many, as when one token follows a long text,
// tasks share the keys of a head and their sums are joined at the end. In a cache whose rows hold
// all heads such a task goes through some rows for all heads, so that it reads them in their order.
#include <executorch/kernels/optimized/attention/attention_blocks.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <executorch/kernels/optimized/attention/attention_plan.h>
#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/convert_simd.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_panels.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/portable/loops/temporary.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

namespace {

using executorch::aten::ScalarType;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

constexpr size_t kAlignment = 64;
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// Memory of a thread.
struct Scratch {
  float* query;   // rows of a task x depth, scaled, where they are not read in place
  float* panel;   // depth x a panel of keys
  float* keys;    // of a block x depth, for keys that are not f32
  float* values;  // of a block x padded_depth, for values that are not read in place
  float* scores;  // rows x keys of a block
};

constexpr int kParts = 5;

int64_t padded(int64_t floats) {
  return div_up(floats, 16) * 16;
}

const void* row_at(const AttentionRows& rows, int64_t batch, int64_t head, int64_t row) {
  const auto size = static_cast<int64_t>(executorch::runtime::elementSize(rows.type));
  const int64_t offset =
      batch * rows.batch_stride + head * rows.head_stride + row * rows.row_stride;
  return static_cast<const uint8_t*>(rows.data) + offset * size;
}

// One row as f32.
void read_row(const AttentionRows& rows, int64_t batch, int64_t head, int64_t row, int64_t n,
              float* to) {
  const void* from = row_at(rows, batch, head, row);
  if (rows.type == ScalarType::Float) {
    std::copy_n(static_cast<const float*>(from), n, to);
  } else if (rows.type == ScalarType::Char) {
    const int64_t param = batch * rows.param_batch_stride + head * rows.param_head_stride +
                          row * rows.param_row_stride;
    dequantize_row(static_cast<const int8_t*>(from), n, rows.scales[param], rows.zeros[param], to);
  } else {
    widen_values(rows.type == ScalarType::Half, from, to, n);
  }
}

void read_rows(const AttentionRows& rows, const Place& place, Range range, int64_t n, float* to,
               int64_t stride) {
  for (int64_t row = range.begin; row < range.end; ++row, to += stride) {
    read_row(rows, place.batch, place.key_head, row, n, to);
  }
}

// How many keys of a block a row sees, masks aside.
int64_t keys_seen(const AttentionPlan& plan, int64_t row, Range keys) {
  if (!plan.problem.causal) {
    return keys.size();
  }
  const int64_t end = plan.problem.first_query + row / plan.group + 1;
  return std::clamp<int64_t>(end - keys.begin, 0, keys.size());
}

// Rows of a task by columns of a panel, of which whole vectors are readable. `tile` is of row 0.
void multiply(const GemmKernels& kernels, GemmTile tile, Range rows, int64_t cols) {
  const int64_t vectors = div_up(cols, kernels.lanes);
  const float* const a = tile.a + rows.begin * tile.lda;
  float* const c = tile.c + rows.begin * tile.ldc;
  tile.tail = cols - (vectors - 1) * kernels.lanes;
  for_each_tile(kernels, rows.size(), [&](int64_t row, int64_t in_tile, int64_t count) {
    tile.count = count;
    tile.a = a + row * tile.lda;
    tile.c = c + row * tile.ldc;
    kernels.tile[in_tile - 1][vectors - 1](tile);
  });
}

// Calls act(rows, seen) for all rows of a task, or for as many as a tile has where each sees other
// keys of the block; the last of them sees so many.
template <typename Act>
void for_rows(const AttentionPlan& plan, const Task& task, Range keys, const Act& act) {
  const int64_t rows = task.rows.size();
  const int64_t step = plan.problem.causal ? gemm_kernels().tile_rows : rows;
  for (int64_t i = 0; i < rows; i += step) {
    const Range some{i, std::min(i + step, rows)};
    act(some, keys_seen(plan, task.rows.begin + some.end - 1, keys));
  }
}

// scores[row][key] of a block.
void score_block(const AttentionPlan& plan, const Scratch& s, const Task& task, Range keys) {
  const AttentionRows& from = plan.problem.key;
  const Place& place = task.place;
  const bool in_columns = plan.problem.keys_in_columns;
  const int64_t depth = plan.problem.depth;
  const auto* data = static_cast<const float*>(
      row_at(from, place.batch, place.key_head, in_columns ? 0 : keys.begin));
  data += in_columns ? keys.begin : 0;
  int64_t stride = from.row_stride;
  if (!plan.keys_in_place) {
    read_rows(from, place, keys, depth, s.keys, depth);
    data = s.keys;
    stride = depth;
  }
  const GemmKernels& kernels = gemm_kernels();
  const Panels panels(keys.size(), kernels.lanes);
  GemmTile tile = {};
  tile.k = tile.lda = depth;
  tile.a = s.query;
  if (plan.queries_in_place) {
    const AttentionRows& query = plan.problem.query;
    tile.a = static_cast<const float*>(row_at(query, place.batch, place.key_head, task.rows.begin));
    tile.lda = query.row_stride;
  }
  tile.b = s.panel;
  tile.ldb = panels.width();
  tile.ldc = plan.score_stride;
  for (int64_t j = 0; j < keys.size(); j = panels.end_of(j)) {
    const int64_t cols = panels.end_of(j) - j;
    if (in_columns) {
      for (int64_t i = 0; i < depth; ++i) {
        std::copy_n(data + i * stride + j, cols, s.panel + i * tile.ldb);
      }
    } else {
      kernels.transpose(data + j * stride, stride, cols, depth, s.panel, tile.ldb, /*add=*/false);
    }
    tile.c = s.scores + j;
    for_rows(plan, task, keys, [&](Range rows, int64_t seen) {
      if (seen > j) {
        multiply(kernels, tile, rows, cols);
      }
    });
  }
}

// Scores into weights; earlier sums are brought to the same scale.
void weigh_block(const AttentionPlan& plan, const Scratch& s, const Task& task, Range keys,
                 RunningSoftmax* softmax, float* sums) {
  const AttentionProblem& p = plan.problem;
  if (p.step != nullptr) {
    p.step->apply(
        {task.place.batch, task.place.key_head, task.rows, keys, s.scores, plan.score_stride});
  }
  for (int64_t i = 0; i < task.rows.size(); ++i) {
    const int64_t row = task.rows.begin + i;
    float* scores = s.scores + i * plan.score_stride;
    const int64_t seen = keys_seen(plan, row, keys);
    const float factor = softmax_step(scores, seen, softmax[i]);
    std::fill(scores + seen, scores + keys.size(), 0.0f);
    if (factor != 1.0f && keys.begin != task.keys.begin) {
      scale_row(sums + i * p.value_depth, p.value_depth, factor);
    }
  }
}

void add_values(const AttentionPlan& plan, const Scratch& s, const Task& task, Range keys,
                float* sums) {
  const AttentionRows& from = plan.problem.value;
  const Place& place = task.place;
  const int64_t depth = plan.problem.value_depth;
  const auto* values =
      static_cast<const float*>(row_at(from, place.batch, place.key_head, keys.begin));
  int64_t stride = from.row_stride;
  if (!plan.values_in_place) {
    stride = plan.padded_depth;
    read_rows(from, place, keys, depth, s.values, stride);
    values = s.values;
  }
  const GemmKernels& kernels = gemm_kernels();
  const Panels panels(depth, kernels.lanes);
  GemmTile tile = {};
  tile.a = s.scores;
  tile.lda = plan.score_stride;
  tile.ldb = stride;
  tile.ldc = depth;
  tile.accumulate = keys.begin != task.keys.begin;
  for (int64_t j = 0; j < depth; j = panels.end_of(j)) {
    tile.b = values + j;
    tile.c = sums + j;
    for_rows(plan, task, keys, [&](Range rows, int64_t seen) {
      tile.k = seen;
      multiply(kernels, tile, rows, panels.end_of(j) - j);
    });
  }
}

void read_queries(const AttentionPlan& plan, const Scratch& s, const Task& task) {
  const AttentionProblem& p = plan.problem;
  if (plan.queries_in_place) {
    return;
  }
  for (int64_t i = 0; i < task.rows.size(); ++i) {
    const int64_t row = task.rows.begin + i;
    const int64_t head = task.place.key_head * plan.group + row % plan.group;
    float* query = s.query + i * p.depth;
    read_row(p.query, task.place.batch, head, row / plan.group, p.depth, query);
    scale_row(query, p.depth, p.scale);
  }
}

// What a task has for one of its heads.
struct Head {
  Task task;
  Scratch s;
  RunningSoftmax* softmax;
  float* sums;
};

Head head_of(const AttentionPlan& plan, const Head& first, int64_t index) {
  Head head = first;
  const int64_t rows = index * first.task.rows.size();
  head.task.place.key_head += index;
  head.s.query += rows * plan.problem.depth;
  head.s.scores += rows * plan.score_stride;
  head.softmax += rows;
  head.sums += rows * plan.problem.value_depth;
  return head;
}

// Calls read(rows, head) with keys or values of a few queries: those of all heads at once where
// they are floats, else some of each head in turn, as f32.
template <typename Read>
void read_for_few(const AttentionPlan& plan, const Head& first, const AttentionRows& from,
                  int64_t depth, Range keys, float* copied, const Read& read) {
  const Place& place = first.task.place;
  CacheRows rows;
  rows.depth = depth;
  rows.queries = first.task.rows.size();
  if (from.type != ScalarType::Char) {
    rows.data = row_at(from, place.batch, place.key_head, keys.begin);
    rows.type = from.type;
    rows.row_stride = from.row_stride;
    rows.head_stride = from.head_stride;
    rows.count = keys.size();
    rows.heads = plan.heads;
    rows.ahead = plan.problem.keys - keys.end;
    read(rows, first, keys);
    return;
  }
  rows.data = copied;
  rows.row_stride = depth;
  for (int64_t key = keys.begin; key < keys.end; key += kNear) {
    const Range near{key, std::min(key + kNear, keys.end)};
    rows.count = near.size();
    for (int64_t i = 0; i < plan.heads; ++i) {
      const Head head = head_of(plan, first, i);
      read_rows(from, head.task.place, near, depth, copied, depth);
      read(rows, head, near);
    }
  }
}

// A block of keys for few queries of each head.
void run_few(const AttentionPlan& plan, const Head& first, Range keys) {
  const AttentionProblem& p = plan.problem;
  read_for_few(plan, first, p.key, p.depth, keys, first.s.keys,
               [&](const CacheRows& rows, const Head& head, Range read) {
                 score_rows(rows, head.s.query, head.s.scores + (read.begin - keys.begin),
                            plan.score_stride);
               });
  for (int64_t i = 0; i < plan.heads; ++i) {
    const Head head = head_of(plan, first, i);
    weigh_block(plan, head.s, head.task, keys, head.softmax, head.sums);
  }
  const Range seen{keys.begin, keys.begin + keys_seen(plan, first.task.rows.end - 1, keys)};
  read_for_few(plan, first, p.value, p.value_depth, seen, first.s.values,
               [&](const CacheRows& rows, const Head& head, Range read) {
                 add_rows(rows, head.s.scores + (read.begin - keys.begin), plan.score_stride,
                          head.sums,
                          /*accumulate=*/read.begin != first.task.keys.begin);
               });
}

// The weighted sums of a task's keys, and their running softmaxes.
void run_task(const AttentionPlan& plan, const Head& first) {
  const AttentionProblem& p = plan.problem;
  const Task& task = first.task;
  const int64_t rows = task.rows.size();
  std::fill_n(first.softmax, plan.heads * rows, RunningSoftmax{kForbidden, 0.0f});
  for (int64_t i = 0; i < plan.heads; ++i) {
    const Head head = head_of(plan, first, i);
    read_queries(plan, head.s, head.task);
  }
  const int64_t seen = p.first_query + (task.rows.end - 1) / plan.group + 1;
  const int64_t last_key = p.causal ? std::min(task.keys.end, seen) : task.keys.end;
  if (last_key <= task.keys.begin) {
    std::fill_n(first.sums, plan.heads * rows * p.value_depth, 0.0f);
  }
  for (int64_t key = task.keys.begin; key < last_key; key += plan.score_stride) {
    const Range block{key, std::min(key + plan.score_stride, last_key)};
    if (plan.few) {
      run_few(plan, first, block);
    } else {
      score_block(plan, first.s, task, block);
      weigh_block(plan, first.s, task, block, first.softmax, first.sums);
      add_values(plan, first.s, task, block, first.sums);
    }
  }
}

void finish_rows(const AttentionPlan& plan, const Task& task) {
  const AttentionProblem& p = plan.problem;
  if (p.epilogue != nullptr) {
    const auto& [batch, head] = task.place;
    const int64_t first = (batch * p.heads + head) * p.queries;
    const void* const rows = row_at(p.out, batch, head, task.rows.begin);
    p.epilogue->finish({first + task.rows.begin, first + task.rows.end, 0, p.value_depth,
                        static_cast<float*>(const_cast<void*>(rows)), p.out.row_stride});
  }
}

void store_row(const AttentionPlan& plan, const Place& place, int64_t row, float total,
               float* sums) {
  const AttentionProblem& p = plan.problem;
  // No key was allowed: the sums are 0 and stay it.
  const float divisor = total == 0.0f && !p.forbidden_is_nan ? 1.0f : total;
  scale_row(sums, p.value_depth, 1.0f / divisor);
  const int64_t head = place.key_head * plan.group + row % plan.group;
  void* out = const_cast<void*>(row_at(p.out, place.batch, head, row / plan.group));
  if (p.out.type == ScalarType::Float) {
    std::copy_n(sums, p.value_depth, static_cast<float*>(out));
  } else {
    narrow_values(p.out.type == ScalarType::Half, sums, out, p.value_depth);
  }
}

void store_head(const AttentionPlan& plan, const Head& head) {
  for (int64_t i = 0; i < head.task.rows.size(); ++i) {
    store_row(plan, head.task.place, head.task.rows.begin + i, head.softmax[i].total,
              head.sums + i * plan.problem.value_depth);
  }
  finish_rows(plan, head.task);
}

// Joins what the tasks of some keys each have summed for one head, one after the other `stride`
// rows apart.
void join_splits(const AttentionPlan& plan, const Head& head, int64_t stride) {
  const int64_t depth = plan.problem.value_depth;
  for (int64_t i = 0; i < head.task.rows.size(); ++i) {
    float highest = kForbidden;
    for (int64_t split = 0; split < plan.key_splits; ++split) {
      highest = std::max(highest, head.softmax[split * stride + i].highest);
    }
    float total = 0;
    float* joined = head.sums + i * depth;
    constexpr int64_t kTogether = 64;
    float factors[kTogether];
    CacheRows sums;
    sums.depth = depth;
    sums.row_stride = stride * depth;
    sums.queries = 1;
    for (int64_t first = 0; first < plan.key_splits; first += kTogether) {
      sums.data = joined + first * sums.row_stride;
      sums.count = std::min(kTogether, plan.key_splits - first);
      for (int64_t split = 0; split < sums.count; ++split) {
        const RunningSoftmax& part = head.softmax[(first + split) * stride + i];
        // All of -inf, or NaN, which the sum has then.
        factors[split] = part.highest == highest ? 1.0f : std::exp(part.highest - highest);
        total += part.total * factors[split];
      }
      add_rows(sums, factors, kTogether, joined, /*accumulate=*/first > 0);
    }
    store_row(plan, head.task.place, head.task.rows.begin + i, total, joined);
  }
  finish_rows(plan, head.task);
}

// A problem with what its tasks need, in floats.
struct Work {
  AttentionPlan plan;
  int64_t tasks = 0, all_rows = 0, grain = 1;  // all_rows: of a task
  int64_t sizes[kParts] = {};                  // of a thread's memory
  int64_t per_thread = 0, sums_size = 0, softmax_size = 0;

  // Sums and softmaxes are those of each task where its keys are only some, else of each thread.
  bool splits() const { return plan.key_splits > 1; }
  int64_t keepers(int64_t threads) const { return splits() ? tasks : threads; }
  int64_t floats(int64_t threads) const {
    return threads * per_thread + keepers(threads) * (sums_size + softmax_size);
  }
};

Work work_of(const AttentionProblem& p, int64_t threads) {
  Work work{plan_of(p, threads)};
  const AttentionPlan& plan = work.plan;
  work.tasks = p.batch * p.key_heads / plan.heads * plan.row_blocks * plan.key_splits;
  const int64_t width = kTileVectors * gemm_kernels().lanes;
  const int64_t rows = plan.rows_per_block;
  work.all_rows = rows * plan.heads;
  const int64_t sizes[kParts] = {
      plan.queries_in_place ? 0 : padded(work.all_rows * p.depth),
      plan.few ? 0 : padded(p.depth * width),
      plan.keys_in_place ? 0 : padded(plan.score_stride * p.depth),
      plan.values_in_place ? 0 : padded(plan.score_stride * plan.padded_depth),
      padded(work.all_rows * plan.score_stride)};
  for (int i = 0; i < kParts; ++i) {
    work.sizes[i] = sizes[i];
    work.per_thread += sizes[i];
  }
  work.sums_size = padded(work.all_rows * p.value_depth);
  work.softmax_size = padded(2 * work.all_rows);
  const int64_t cost = work.all_rows * (p.keys / plan.key_splits) * (p.depth + p.value_depth);
  work.grain = std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, cost));
  return work;
}

// A task by a thread of so many; `memory` has the floats of all.
Head task_on(const Work& work, float* memory, int64_t threads, int64_t index, int64_t thread) {
  float* parts[kParts];
  float* own = memory + thread * work.per_thread;
  for (int i = 0; i < kParts; ++i) {
    parts[i] = own;
    own += work.sizes[i];
  }
  const Scratch s{parts[0], parts[1], parts[2], parts[3], parts[4]};
  float* const sums = memory + threads * work.per_thread;
  auto* const softmaxes =
      reinterpret_cast<RunningSoftmax*>(sums + work.keepers(threads) * work.sums_size);
  const int64_t depth = work.plan.problem.value_depth;
  const Task task = task_at(work.plan, index);
  return work.splits() ? Head{task, s, softmaxes + index * work.all_rows,
                              sums + index * work.all_rows * depth}
                       : Head{task, s, softmaxes + thread * (work.softmax_size / 2),
                              sums + thread * work.sums_size};
}

void run_tasks(const Work& work, float* memory, int64_t threads, Range tasks, int64_t thread) {
  for (int64_t index = tasks.begin; index < tasks.end; ++index) {
    const Head task = task_on(work, memory, threads, index, thread);
    run_task(work.plan, task);
    for (int64_t i = 0; !work.splits() && i < work.plan.heads; ++i) {
      store_head(work.plan, head_of(work.plan, task, i));
    }
  }
}

void join_tasks(const Work& work, float* memory, int64_t threads) {
  const AttentionPlan& plan = work.plan;
  for (int64_t index = 0; work.splits() && index < work.tasks; index += plan.key_splits) {
    const Head task = task_on(work, memory, threads, index, 0);
    for (int64_t i = 0; i < plan.heads; ++i) {
      join_splits(plan, head_of(plan, task, i), work.all_rows);
    }
  }
}

bool is_empty(const AttentionProblem& p) {
  return p.batch * p.heads * p.queries * p.value_depth == 0;
}

}  // namespace

Error attend(KernelRuntimeContext& ctx, const AttentionProblem& p) {
  if (is_empty(p)) {
    return Error::Ok;
  }
  const Work work = work_of(p, extension::get_num_threads());
  const int64_t threads = std::min(work.plan.threads, work.tasks);
  Temporary temporary;
  auto* const memory = static_cast<float*>(temporary.try_allocate(
      ctx, static_cast<size_t>(work.floats(threads)) * sizeof(float), kAlignment));
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  extension::parallel_for(0, work.tasks, work.grain, [&](int64_t first, int64_t last) {
    run_tasks(work, memory, threads, {first, last}, extension::get_thread_num());
  });
  join_tasks(work, memory, threads);
  return Error::Ok;
}

Error attend_side_by_side(KernelRuntimeContext& ctx,
                          runtime::Span<const AttentionProblem> problems) {
  if (2 * static_cast<int64_t>(problems.size()) <= extension::get_num_threads()) {
    for (const AttentionProblem& p : problems) {
      ET_CHECK_OK_OR_RETURN_ERROR(attend(ctx, p));
    }
    return Error::Ok;
  }
  int64_t most = 0;
  for (const AttentionProblem& p : problems) {
    most = is_empty(p) ? most : std::max(most, work_of(p, 1).floats(1));
  }
  const auto count = static_cast<int64_t>(problems.size());
  const int64_t threads = std::min(extension::get_num_threads(), count);
  Temporary temporary;
  auto* const memory = static_cast<float*>(
      temporary.try_allocate(ctx, static_cast<size_t>(threads * most) * sizeof(float), kAlignment));
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  extension::parallel_for(0, count, 1, [&](int64_t first, int64_t last) {
    float* const own = memory + extension::get_thread_num() * most;
    for (int64_t i = first; i < last; ++i) {
      if (!is_empty(problems[static_cast<size_t>(i)])) {
        const Work work = work_of(problems[static_cast<size_t>(i)], 1);
        run_tasks(work, own, 1, {0, work.tasks}, 0);
        join_tasks(work, own, 1);
      }
    }
  });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
