// SPDX-License-Identifier: BSD-3-Clause
// A task takes some rows of one head of keys, which are the queries of all heads that share it, and
// keeps, per row, the weighted sum of values so far and its running softmax. The scores of a block
// never leave the cache. Where rows are few and keys many, as when one token follows a long text,
// tasks share the keys of a head and their sums are joined at the end.
#include <executorch/kernels/optimized/attention/attention_blocks.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/portable/attention/attention.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

constexpr int64_t kRows = 128;   // of a task
constexpr int64_t kKeys = 192;   // of a block: a whole number of panels on every target
constexpr int64_t kDotRows = 8;  // up to which keys are read in place
constexpr size_t kAlignment = 64;
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// One head of keys of one batch.
struct Place {
  int64_t batch, key_head;
};

// What a task does.
struct Task {
  Place place;
  Range rows;  // of queries * group, those of a query side by side
  Range keys;
};

// Memory of a thread.
struct Scratch {
  float* query;   // kRows x depth, scaled
  float* panel;   // depth x a panel of keys
  float* keys;    // kKeys x depth, for keys that are not f32
  float* values;  // kKeys x padded_depth, for values that are not read in place
  float* scores;  // kRows x kKeys
};

constexpr int kParts = 5;

struct Plan {
  const AttentionProblem& problem;
  int64_t group;         // heads that share keys
  int64_t rows;          // queries * group
  int64_t padded_depth;  // of copied values
  bool values_in_place;
  int64_t row_blocks, key_splits, keys_per_split;
  bool by_keys;  // all heads of some keys are done before the next keys
};

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
    widen(rows.type, from, to, n);
  }
}

// How many keys of a block a row sees, masks aside.
int64_t keys_seen(const Plan& plan, int64_t row, Range keys) {
  if (!plan.problem.causal) {
    return keys.size();
  }
  const int64_t end = plan.problem.first_query + row / plan.group + 1;
  return std::clamp<int64_t>(end - keys.begin, 0, keys.size());
}

// A tile of so many rows and columns; full vectors of its B are readable.
void multiply(const GemmKernels& kernels, GemmTile tile, int64_t rows, int64_t cols) {
  const int64_t vectors = div_up(cols, kernels.lanes);
  tile.tail = cols - (vectors - 1) * kernels.lanes;
  kernels.tile[rows - 1][vectors - 1](tile);
}

// Dot products of few rows with keys that are read in place.
void score_by_dots(const Plan& plan, const Scratch& s, int64_t rows, const void* keys,
                   ScalarType type, int64_t stride, int64_t count) {
  DotRows dots;
  dots.num_rows = count;
  dots.k = plan.problem.depth;
  dots.rows = keys;
  dots.row_type = type;
  dots.row_stride = stride;
  dots.x_stride = plan.problem.depth;
  dots.out_stride = kKeys;
  for (int64_t i = 0; i < rows; i += kMaxDotVectors) {
    dots.num_x = std::min(kMaxDotVectors, rows - i);
    dots.x = s.query + i * plan.problem.depth;
    dots.out = s.scores + i * kKeys;
    gemm_kernels().dot_rows(dots, 0, count);
  }
}

// scores[row][key] of a block, by dot products when rows are few, else by tiles.
void score_block(const Plan& plan, const Scratch& s, const Task& task, Range keys) {
  const AttentionRows& from = plan.problem.key;
  const Place& place = task.place;
  const int64_t depth = plan.problem.depth, rows = task.rows.size();
  const void* data = row_at(from, place.batch, place.key_head, keys.begin);
  const bool few = rows <= kDotRows;
  ScalarType type = from.type;
  int64_t stride = from.row_stride;
  if (type != ScalarType::Float && !(few && is_narrow_float(type))) {
    for (int64_t j = 0; j < keys.size(); ++j) {
      read_row(from, place.batch, place.key_head, keys.begin + j, depth, s.keys + j * depth);
    }
    data = s.keys;
    type = ScalarType::Float;
    stride = depth;
  }
  if (few) {
    score_by_dots(plan, s, rows, data, type, stride, keys.size());
    return;
  }
  const GemmKernels& kernels = gemm_kernels();
  const int64_t width = kTileVectors * kernels.lanes;
  GemmTile tile = {};
  tile.k = tile.lda = depth;
  tile.b = s.panel;
  tile.ldb = width;
  tile.ldc = kKeys;
  for (int64_t j = 0; j < keys.size(); j += width) {
    const int64_t cols = std::min(width, keys.size() - j);
    kernels.transpose(static_cast<const float*>(data) + j * stride, stride, cols, depth, s.panel,
                      width, /*add=*/false);
    for (int64_t i = 0; i < rows; i += kernels.tile_rows) {
      const int64_t end = std::min(i + kernels.tile_rows, rows);
      if (keys_seen(plan, task.rows.begin + end - 1, keys) <= j) {
        continue;
      }
      tile.a = s.query + i * depth;
      tile.c = s.scores + i * kKeys + j;
      multiply(kernels, tile, end - i, cols);
    }
  }
}

// Adds the mask to a row of scores; `offset` is where the row's part of it begins.
void mask_row(const AttentionProblem& p, int64_t offset, int64_t keys, float* scores) {
  const Tensor& mask = *p.mask;
  const int64_t stride = p.mask_col_stride;
  if (mask.scalar_type() == ScalarType::Bool) {
    const bool* allowed = mask.const_data_ptr<bool>() + offset;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] = allowed[j * stride] ? scores[j] : kForbidden;
    }
    return;
  }
  if (mask.scalar_type() == ScalarType::Float && stride == 1) {
    const float* row = mask.const_data_ptr<float>() + offset;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] += row[j];
    }
    return;
  }
  float row[kKeys];
  const int64_t count = stride == 0 ? 1 : keys;
  if (mask.scalar_type() == ScalarType::Float) {
    std::copy_n(mask.const_data_ptr<float>() + offset, count, row);
  } else {
    widen(mask.scalar_type(), static_cast<const uint16_t*>(mask.const_data_ptr()) + offset, row,
          count);
  }
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] += row[j * stride];
  }
}

int64_t mask_offset(const Plan& plan, const Task& task, int64_t row) {
  const AttentionProblem& p = plan.problem;
  const int64_t head = task.place.key_head * plan.group + row % plan.group;
  const int64_t matrix = task.place.batch * p.heads + head;
  const int64_t base = p.mask_like != nullptr ? matrix_offset(*p.mask, *p.mask_like, matrix) : 0;
  return base + row / plan.group * p.mask_row_stride;
}

// Scores into weights, with what they are masked by; earlier sums are brought to the same scale.
void weigh_block(const Plan& plan, const Scratch& s, const Task& task, Range keys,
                 RunningSoftmax* softmax, float* sums) {
  const AttentionProblem& p = plan.problem;
  for (int64_t i = 0; i < task.rows.size(); ++i) {
    const int64_t row = task.rows.begin + i;
    float* scores = s.scores + i * kKeys;
    if (p.mask != nullptr) {
      mask_row(p, mask_offset(plan, task, row) + keys.begin * p.mask_col_stride, keys.size(),
               scores);
    }
    const int64_t seen = keys_seen(plan, row, keys);
    const float factor = softmax_step(scores, seen, softmax[i]);
    std::fill(scores + seen, scores + keys.size(), 0.0f);
    float* sum = sums + i * p.value_depth;
    for (int64_t j = 0; factor != 1.0f && j < p.value_depth; ++j) {
      sum[j] *= factor;
    }
  }
}

void add_values(const Plan& plan, const Scratch& s, const Task& task, Range keys, float* sums) {
  const AttentionRows& from = plan.problem.value;
  const Place& place = task.place;
  const int64_t depth = plan.problem.value_depth;
  const auto* values =
      static_cast<const float*>(row_at(from, place.batch, place.key_head, keys.begin));
  int64_t stride = from.row_stride;
  if (!plan.values_in_place) {
    stride = plan.padded_depth;
    for (int64_t j = 0; j < keys.size(); ++j) {
      read_row(from, place.batch, place.key_head, keys.begin + j, depth, s.values + j * stride);
    }
    values = s.values;
  }
  const GemmKernels& kernels = gemm_kernels();
  const int64_t width = kTileVectors * kernels.lanes, rows = task.rows.size();
  GemmTile tile = {};
  tile.lda = kKeys;
  tile.ldb = stride;
  tile.ldc = depth;
  tile.accumulate = true;
  for (int64_t j = 0; j < depth; j += width) {
    tile.b = values + j;
    for (int64_t i = 0; i < rows; i += kernels.tile_rows) {
      const int64_t end = std::min(i + kernels.tile_rows, rows);
      tile.k = keys_seen(plan, task.rows.begin + end - 1, keys);
      tile.a = s.scores + i * kKeys;
      tile.c = sums + i * depth + j;
      multiply(kernels, tile, end - i, std::min(width, depth - j));
    }
  }
}

// The weighted sums of a task's keys, and their running softmaxes.
void run_task(const Plan& plan, const Scratch& s, const Task& task, RunningSoftmax* softmax,
              float* sums) {
  const AttentionProblem& p = plan.problem;
  const int64_t rows = task.rows.size();
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = task.rows.begin + i;
    const int64_t head = task.place.key_head * plan.group + row % plan.group;
    float* query = s.query + i * p.depth;
    read_row(p.query, task.place.batch, head, row / plan.group, p.depth, query);
    for (int64_t j = 0; j < p.depth; ++j) {
      query[j] *= p.scale;
    }
  }
  std::fill_n(sums, rows * p.value_depth, 0.0f);
  std::fill_n(softmax, rows, RunningSoftmax{kForbidden, 0.0f});
  const int64_t seen = p.first_query + (task.rows.end - 1) / plan.group + 1;
  const int64_t last_key = p.causal ? std::min(task.keys.end, seen) : task.keys.end;
  for (int64_t key = task.keys.begin; key < last_key; key += kKeys) {
    const Range keys{key, std::min(key + kKeys, last_key)};
    score_block(plan, s, task, keys);
    weigh_block(plan, s, task, keys, softmax, sums);
    add_values(plan, s, task, keys, sums);
  }
}

void store_row(const Plan& plan, const Place& place, int64_t row, float total, float* sums) {
  const AttentionProblem& p = plan.problem;
  // No key was allowed: the sums are 0 and stay it.
  const float divisor = total == 0.0f && !p.forbidden_is_nan ? 1.0f : total;
  for (int64_t j = 0; j < p.value_depth; ++j) {
    sums[j] /= divisor;
  }
  const int64_t head = place.key_head * plan.group + row % plan.group;
  void* out = const_cast<void*>(row_at(p.out, place.batch, head, row / plan.group));
  if (p.out.type == ScalarType::Float) {
    std::copy_n(sums, p.value_depth, static_cast<float*>(out));
  } else {
    narrow(p.out.type, sums, out, p.value_depth);
  }
}

// Joins what the tasks of one head and block of rows have summed, `stride` floats apart.
void join_splits(const Plan& plan, const Task& task, const RunningSoftmax* softmax, float* sums) {
  const int64_t depth = plan.problem.value_depth;
  for (int64_t i = 0; i < task.rows.size(); ++i) {
    float highest = kForbidden;
    for (int64_t split = 0; split < plan.key_splits; ++split) {
      highest = std::max(highest, softmax[split * plan.rows + i].highest);
    }
    float total = 0;
    float* joined = sums + i * depth;
    for (int64_t split = 0; split < plan.key_splits; ++split) {
      const RunningSoftmax& part = softmax[split * plan.rows + i];
      const float* from = sums + (split * plan.rows + i) * depth;
      // All of -inf, or NaN, which the sum has then.
      const float factor = part.highest == highest ? 1.0f : std::exp(part.highest - highest);
      total += part.total * factor;
      for (int64_t j = 0; j < depth; ++j) {
        joined[j] = (split == 0 ? 0.0f : joined[j]) + from[j] * factor;
      }
    }
    store_row(plan, task.place, task.rows.begin + i, total, joined);
  }
}

// How many tasks share the keys of a head, so that every thread has some.
int64_t splits_of(const Plan& plan, int64_t tasks) {
  constexpr int64_t kTasksPerThread = 4;
  const AttentionProblem& p = plan.problem;
  const int64_t threads = extension::get_num_threads();
  const int64_t work = plan.rows * p.keys * std::max<int64_t>(1, p.depth + p.value_depth);
  if (threads == 1 || plan.row_blocks > 1 || tasks >= kTasksPerThread * threads ||
      tasks * work < 2 * kMinWorkPerTask) {
    return 1;
  }
  return std::clamp<int64_t>(div_up(kTasksPerThread * threads, tasks), 1, div_up(p.keys, kKeys));
}

// The rows of a cache hold all heads: a head's keys are a page apart or more. Where queries are
// few, that is what reading them costs, so all heads read some rows before any reads the next.
bool reads_by_keys(const Plan& plan) {
  const AttentionRows& key = plan.problem.key;
  return plan.rows <= kDotRows && plan.problem.key_heads > 1 && key.row_stride > key.head_stride;
}

Task task_at(const Plan& plan, int64_t index) {
  const int64_t split = index % plan.key_splits;
  const int64_t block = index / plan.key_splits % plan.row_blocks;
  const int64_t matrix = index / plan.key_splits / plan.row_blocks;
  const int64_t first_row = block * kRows, first_key = split * plan.keys_per_split;
  const AttentionProblem& p = plan.problem;
  return {{matrix / p.key_heads, matrix % p.key_heads},
          {first_row, std::min(first_row + kRows, plan.rows)},
          {first_key, std::min(first_key + plan.keys_per_split, p.keys)}};
}

// The task that is run at a place, where those of the same keys are neighbours.
int64_t in_order_of_keys(const Plan& plan, int64_t place, int64_t tasks) {
  const int64_t heads = tasks / plan.key_splits;
  return place % heads * plan.key_splits + place / heads;
}

Plan plan_of(const AttentionProblem& p) {
  const int64_t lanes = gemm_kernels().lanes;
  Plan plan{p,    p.heads / p.key_heads, 0, div_up(p.value_depth, lanes) * lanes, false, 0, 1, 0,
            false};
  plan.rows = p.queries * plan.group;
  // Rows of a cache are so far apart that each is in a page of its own: copied where many queries
  // read them.
  const bool near = plan.rows <= kDotRows || p.value.row_stride == p.value_depth;
  plan.values_in_place = p.value.type == ScalarType::Float && p.value_depth % lanes == 0 && near;
  plan.row_blocks = div_up(plan.rows, kRows);
  plan.by_keys = reads_by_keys(plan);
  plan.key_splits = plan.by_keys ? std::max<int64_t>(1, div_up(p.keys, kKeys))
                                 : splits_of(plan, p.batch * p.key_heads * plan.row_blocks);
  plan.keys_per_split = div_up(div_up(p.keys, plan.key_splits), kKeys) * kKeys;
  plan.key_splits = std::max<int64_t>(1, div_up(p.keys, std::max<int64_t>(1, plan.keys_per_split)));
  return plan;
}

}  // namespace

Error attend(KernelRuntimeContext& ctx, const AttentionProblem& p) {
  if (p.batch * p.heads * p.queries * p.value_depth == 0) {
    return Error::Ok;
  }
  const Plan plan = plan_of(p);
  const int64_t tasks = p.batch * p.key_heads * plan.row_blocks * plan.key_splits;
  const int64_t width = kTileVectors * gemm_kernels().lanes;
  const int64_t rows = std::min(kRows, plan.rows);
  const bool few = rows <= kDotRows;
  const bool reads_keys = p.key.type != ScalarType::Float && !(few && is_narrow_float(p.key.type));
  const int64_t sizes[kParts] = {padded(rows * p.depth), few ? 0 : padded(p.depth * width),
                                 reads_keys ? padded(kKeys * p.depth) : 0,
                                 plan.values_in_place ? 0 : padded(kKeys * plan.padded_depth),
                                 padded(rows * kKeys)};
  int64_t per_thread = 0;
  for (int64_t size : sizes) {
    per_thread += size;
  }
  const int64_t threads = std::min(extension::get_num_threads(), tasks);
  // Sums and softmaxes of each task where its keys are only some, else of each thread.
  const bool splits = plan.key_splits > 1;
  const int64_t keepers = splits ? tasks : threads;
  const int64_t sums_size = padded(rows * p.value_depth);
  const int64_t softmax_size = padded(2 * rows);
  const int64_t floats = threads * per_thread + keepers * (sums_size + softmax_size);
  auto memory = ctx.allocate_temp(static_cast<size_t>(floats) * sizeof(float), kAlignment);
  if (!memory.ok()) {
    return memory.error();
  }
  auto* scratch = static_cast<float*>(memory.get());
  float* all_sums = scratch + threads * per_thread;
  auto* all_softmaxes = reinterpret_cast<RunningSoftmax*>(all_sums + keepers * sums_size);
  const int64_t sums_stride = splits ? rows * p.value_depth : sums_size;
  const int64_t softmax_stride = splits ? rows : softmax_size / 2;
  const int64_t work = rows * (p.keys / plan.key_splits) * (p.depth + p.value_depth);
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work));
  extension::parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    const int64_t thread = extension::get_thread_num();
    float* own = scratch + thread * per_thread;
    float* parts[kParts];
    for (int i = 0; i < kParts; ++i) {
      parts[i] = own;
      own += sizes[i];
    }
    const Scratch s{parts[0], parts[1], parts[2], parts[3], parts[4]};
    for (int64_t place = first; place < last; ++place) {
      const int64_t index = plan.by_keys ? in_order_of_keys(plan, place, tasks) : place;
      const Task task = task_at(plan, index);
      const int64_t keeper = splits ? index : thread;
      float* sums = all_sums + keeper * sums_stride;
      RunningSoftmax* softmax = all_softmaxes + keeper * softmax_stride;
      run_task(plan, s, task, softmax, sums);
      for (int64_t i = 0; !splits && i < task.rows.size(); ++i) {
        store_row(plan, task.place, task.rows.begin + i, softmax[i].total,
                  sums + i * p.value_depth);
      }
    }
  });
  for (int64_t index = 0; splits && index < tasks; index += plan.key_splits) {
    join_splits(plan, task_at(plan, index), all_softmaxes + index * softmax_stride,
                all_sums + index * sums_stride);
  }
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
