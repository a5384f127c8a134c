// SPDX-License-Identifier: BSD-3-Clause
// scaled_dot_product_attention in one pass over blocks of keys: a task takes some queries of one
// head and keeps, per query, the weighted sum of values so far and its running softmax. The scores
// of a block never leave the cache. Sums are f32.
#include <executorch/kernels/portable/attention/attention.h>

#include <algorithm>
#include <limits>

#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

namespace {

constexpr int64_t kQueries = 64;  // of a task
constexpr int64_t kKeys = 192;    // of a block: a whole number of panels on every target
constexpr size_t kAlignment = 64;

// The operands of a call: dense, of one dtype.
struct Operands {
  const Attention& plan;
  const AttentionArguments& arguments;
  const Tensor& out;
  ScalarType type;
  int64_t value_bytes;
  int64_t value_stride;  // floats between rows of values that have been copied
  bool values_in_place;
};

// Memory of a thread.
struct Scratch {
  float* query;    // kQueries x depth, scaled
  float* keys;     // panels: depth rows of each
  float* widened;  // kKeys x depth, for packing narrow keys
  float* values;   // kKeys x value_stride
  float* scores;   // kQueries x kKeys
  float* sums;     // kQueries x value_depth
};

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

const void* row_of(const Operands& o, const Tensor& tensor, int64_t row, int64_t length) {
  return static_cast<const uint8_t*>(tensor.const_data_ptr()) + row * length * o.value_bytes;
}

void to_f32(const Operands& o, const void* from, int64_t n, float* to) {
  if (o.type == ScalarType::Float) {
    std::copy_n(static_cast<const float*>(from), n, to);
  } else {
    widen(o.type, from, to, n);
  }
}

// c[rows][cols] = a[rows][k] * b (+ c), all tiles of it; b lies in rows, full vectors of it are
// readable.
void multiply_tiles(const float* a, int64_t lda, int64_t rows, const float* b, int64_t ldb,
                    int64_t cols, int64_t k, float* c, int64_t ldc, bool accumulate) {
  const GemmKernels& kernels = gemm_kernels();
  const int64_t vectors = div_up(cols, kernels.lanes);
  GemmTile tile = {};
  tile.k = k;
  tile.lda = lda;
  tile.b = b;
  tile.ldb = ldb;
  tile.ldc = ldc;
  tile.tail = cols - (vectors - 1) * kernels.lanes;
  tile.accumulate = accumulate;
  for (int64_t i = 0; i < rows; i += kernels.tile_rows) {
    tile.a = a + i * lda;
    tile.c = c + i * ldc;
    kernels.tile[std::min(kernels.tile_rows, rows - i) - 1][vectors - 1](tile);
  }
}

// scores[query][key] of a block, by dot products when queries are few, else by tiles.
void score_block(const Operands& o, const Scratch& s, int64_t queries, int64_t key_row,
                 int64_t keys) {
  const int64_t depth = o.plan.depth;
  const void* from = row_of(o, o.arguments.key, key_row, depth);
  const GemmKernels& kernels = gemm_kernels();
  if (queries <= kMaxDotVectors) {
    DotRows dots;
    dots.num_rows = keys;
    dots.num_x = queries;
    dots.k = depth;
    dots.rows = from;
    dots.row_type = o.type;
    dots.row_stride = depth;
    dots.x = s.query;
    dots.x_stride = depth;
    dots.out = s.scores;
    dots.out_stride = kKeys;
    kernels.dot_rows(dots, 0, keys);
    return;
  }
  const float* rows = static_cast<const float*>(from);
  if (o.type != ScalarType::Float) {
    widen(o.type, from, s.widened, keys * depth);
    rows = s.widened;
  }
  const int64_t width = kTileVectors * kernels.lanes;
  for (int64_t j = 0; j < keys; j += width) {
    const int64_t cols = std::min(width, keys - j);
    kernels.transpose(rows + j * depth, depth, cols, depth, s.keys, width, /*add=*/false);
    multiply_tiles(s.query, depth, queries, s.keys, width, cols, depth, s.scores + j, kKeys,
                   /*accumulate=*/false);
  }
}

// Adds the mask to a row of scores; `offset` is where the row's part of it begins.
void mask_row(const Operands& o, int64_t offset, int64_t keys, float* scores) {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  const Tensor& mask = *o.plan.mask;
  const int64_t stride = o.plan.mask_col_stride;
  if (mask.scalar_type() == ScalarType::Bool) {
    const bool* allowed = mask.const_data_ptr<bool>() + offset;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] = allowed[j * stride] ? scores[j] : kForbidden;
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

// Scores into weights, with what they are masked by; earlier sums are brought to the same scale.
void weigh_block(const Operands& o, const Scratch& s, int64_t matrix, Range queries, Range keys,
                 RunningSoftmax* rows) {
  const int64_t mask_base =
      o.plan.mask != nullptr ? matrix_offset(*o.plan.mask, o.arguments.query, matrix) : 0;
  for (int64_t i = 0; i < queries.size(); ++i) {
    const int64_t query = queries.begin + i;
    float* scores = s.scores + i * kKeys;
    if (o.plan.mask != nullptr) {
      mask_row(o, mask_base + query * o.plan.mask_row_stride + keys.begin * o.plan.mask_col_stride,
               keys.size(), scores);
    }
    if (o.plan.causal && query + 1 < keys.end) {
      const int64_t seen = std::max<int64_t>(0, query + 1 - keys.begin);
      std::fill(scores + seen, scores + keys.size(), -std::numeric_limits<float>::infinity());
    }
    const float factor = softmax_step(scores, keys.size(), rows[i]);
    float* sums = s.sums + i * o.plan.value_depth;
    for (int64_t j = 0; factor != 1.0f && j < o.plan.value_depth; ++j) {
      sums[j] *= factor;
    }
  }
}

void add_values(const Operands& o, const Scratch& s, int64_t queries, int64_t value_row,
                int64_t keys) {
  const int64_t depth = o.plan.value_depth;
  const void* from = row_of(o, o.arguments.value, value_row, depth);
  const auto* values = static_cast<const float*>(from);
  if (!o.values_in_place) {
    for (int64_t j = 0; j < keys; ++j) {
      to_f32(o, static_cast<const uint8_t*>(from) + j * depth * o.value_bytes, depth,
             s.values + j * o.value_stride);
    }
    values = s.values;
  }
  const int64_t width = kTileVectors * gemm_kernels().lanes;
  for (int64_t j = 0; j < depth; j += width) {
    multiply_tiles(s.scores, kKeys, queries, values + j, o.value_stride, std::min(width, depth - j),
                   keys, s.sums + j, depth, /*accumulate=*/true);
  }
}

void store_results(const Operands& o, const Scratch& s, int64_t first_row, int64_t queries,
                   const RunningSoftmax* rows) {
  const int64_t depth = o.plan.value_depth;
  auto* out = static_cast<uint8_t*>(o.out.mutable_data_ptr()) + first_row * depth * o.value_bytes;
  for (int64_t i = 0; i < queries; ++i, out += depth * o.value_bytes) {
    float* sums = s.sums + i * depth;
    // No key was allowed: the sums are 0 and stay it.
    const float total = rows[i].total == 0.0f ? 1.0f : rows[i].total;
    for (int64_t j = 0; j < depth; ++j) {
      sums[j] /= total;
    }
    if (o.type == ScalarType::Float) {
      std::copy_n(sums, depth, reinterpret_cast<float*>(out));
    } else {
      narrow(o.type, sums, out, depth);
    }
  }
}

void attend(const Operands& o, const Scratch& s, int64_t matrix, Range queries) {
  const Attention& plan = o.plan;
  const int64_t first_row = matrix * plan.queries + queries.begin;
  const int64_t first_key = plan.key_matrix(matrix) * plan.keys;
  to_f32(o, row_of(o, o.arguments.query, first_row, plan.depth), queries.size() * plan.depth,
         s.query);
  for (int64_t i = 0; i < queries.size() * plan.depth; ++i) {
    s.query[i] *= static_cast<float>(plan.scale);
  }
  std::fill_n(s.sums, queries.size() * plan.value_depth, 0.0f);
  RunningSoftmax rows[kQueries];
  std::fill_n(rows, queries.size(), RunningSoftmax{-std::numeric_limits<float>::infinity(), 0.0f});
  const int64_t last_key = plan.causal ? std::min(plan.keys, queries.end) : plan.keys;
  for (int64_t key = 0; key < last_key; key += kKeys) {
    const Range keys{key, std::min(key + kKeys, last_key)};
    score_block(o, s, queries.size(), first_key + key, keys.size());
    weigh_block(o, s, matrix, queries, keys, rows);
    add_values(o, s, queries.size(), first_key + key, keys.size());
  }
  store_results(o, s, first_row, queries.size(), rows);
}

Error attend_all(KernelRuntimeContext& ctx, const Operands& o) {
  const Attention& plan = o.plan;
  const int64_t blocks = div_up(plan.queries, kQueries);
  const int64_t tasks = plan.matrices * blocks;
  if (tasks == 0 || plan.value_depth == 0) {
    return Error::Ok;
  }
  const int64_t width = kTileVectors * gemm_kernels().lanes;
  const bool narrow_type = o.type != ScalarType::Float;
  const int64_t sizes[] = {kQueries * plan.depth,
                           plan.depth * width,
                           narrow_type ? kKeys * plan.depth : 0,
                           o.values_in_place ? 0 : kKeys * o.value_stride,
                           kQueries * kKeys,
                           kQueries * plan.value_depth};
  int64_t per_thread = 0;
  for (int64_t size : sizes) {
    per_thread += div_up(size, 16) * 16;
  }
  const int64_t threads = std::min(extension::get_num_threads(), tasks);
  auto memory =
      ctx.allocate_temp(static_cast<size_t>(threads * per_thread) * sizeof(float), kAlignment);
  if (!memory.ok()) {
    return memory.error();
  }
  const int64_t work = std::min(plan.queries, kQueries) * plan.keys *
                       std::max<int64_t>(1, plan.depth + plan.value_depth);
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work));
  extension::parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    float* own = static_cast<float*>(memory.get()) + extension::get_thread_num() * per_thread;
    float* parts[6];
    for (int i = 0; i < 6; ++i) {
      parts[i] = own;
      own += div_up(sizes[i], 16) * 16;
    }
    const Scratch s{parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
    for (int64_t task = first; task < last; ++task) {
      const int64_t query = task % blocks * kQueries;
      attend(o, s, task / blocks, {query, std::min(query + kQueries, plan.queries)});
    }
  });
  return Error::Ok;
}

bool is_fast(const AttentionArguments& a, const Tensor& out) {
  const bool narrow_type = is_narrow_float(a.query.scalar_type());
  return (narrow_type || is_f32(a.query)) && is_contiguous(a.query) && is_contiguous(a.key) &&
         is_contiguous(a.value) && is_contiguous(out) &&
         (!a.mask.has_value() || is_contiguous(*a.mask));
}

}  // namespace
}  // namespace executorch::kernels::optimized

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::runtime::Error;

Tensor& opt_scaled_dot_product_attention_out(KernelRuntimeContext& ctx, const Tensor& query,
                                             const Tensor& key, const Tensor& value,
                                             const std::optional<Tensor>& attn_mask,
                                             double dropout_p, bool is_causal,
                                             std::optional<double> scale, bool enable_gqa,
                                             Tensor& out) {
  const AttentionArguments arguments{query,     key,       value, attn_mask,
                                     dropout_p, is_causal, scale, enable_gqa};
  const auto portable = [&]() -> Tensor& {
    return scaled_dot_product_attention_out(ctx, query, key, value, attn_mask, dropout_p, is_causal,
                                            scale, enable_gqa, out);
  };
  if (!optimized::is_fast(arguments, out)) {
    return portable();
  }
  Attention plan;
  if (!plan_attention({ctx, "scaled_dot_product_attention.out"}, arguments, out, plan)) {
    return out;
  }
  const bool f32 = optimized::is_f32(query);
  const int64_t lanes = optimized::gemm_kernels().lanes;
  const bool in_place = f32 && plan.value_depth % lanes == 0;
  const int64_t padded = optimized::div_up(plan.value_depth, lanes) * lanes;
  const optimized::Operands operands{plan,        arguments, out,     query.scalar_type(),
                                     f32 ? 4 : 2, padded,    in_place};
  return optimized::attend_all(ctx, operands) == Error::Ok ? out : portable();
}

}  // namespace torch::executor::native
