// SPDX-License-Identifier: BSD-3-Clause
// Attention, its caches, and rotary embeddings.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>
#include <cmath>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

/// Sizes and strides of [batch, heads, rows, width], whatever the order of heads and rows is.
struct Heads {
  int64_t batches = 0;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t strides[3] = {};

  static Heads of(const Shape& shape, bool rows_first) {
    Heads out;
    const int64_t second = shape[1];
    const int64_t third = shape[2];
    out.batches = shape[0];
    out.heads = rows_first ? third : second;
    out.rows = rows_first ? second : third;
    out.width = shape[3];
    out.strides[0] = second * third * out.width;
    out.strides[1] = rows_first ? out.width : third * out.width;
    out.strides[2] = rows_first ? third * out.width : out.width;
    return out;
  }
};

struct Attention {
  const Tensor* q = nullptr;
  const Tensor* k = nullptr;
  const Tensor* v = nullptr;
  const Tensor* mask = nullptr;
  Tensor* out = nullptr;
  bool rows_first = false;
  int64_t num_keys = 0;
  bool is_causal = false;
  int64_t first = 0;
  float scale = 0;  // 0: by width
};

Error attend(Call& call, const Attention& a) {
  const Heads q = Heads::of(a.q->shape, a.rows_first);
  const Heads k = Heads::of(a.k->shape, a.rows_first);
  const Heads v = Heads::of(a.v->shape, a.rows_first);
  if (k.heads < 1 || q.heads % k.heads != 0 || v.heads != k.heads || q.width != k.width ||
      q.batches != k.batches || v.batches != k.batches || v.rows < a.num_keys ||
      k.rows < a.num_keys) {
    return call.mismatch("expected queries, keys and values that go together");
  }
  Shape shape = a.q->shape;
  shape[3] = static_cast<int32_t>(v.width);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*a.out, shape));
  const Heads y = Heads::of(a.out->shape, a.rows_first);
  const Shape& bound = a.q->bound;
  const int64_t row_stride = a.rows_first ? a.k->bound[1] : a.k->bound[2];
  const int64_t room = int64_t{bound[0]} * bound[1] * bound[2];
  if (room * row_stride > (int64_t{1} << 30)) {
    return call.refuse("more weights than 2^30");
  }
  Tensor weights = ET_UNWRAP(call.scratch(Element::kFloat, {room, row_stride}));
  int64_t mask_strides[4] = {};
  if (a.mask != nullptr) {
    const Shape wanted = {q.batches, q.heads, q.rows, a.num_keys};
    Shape both;
    if (a.mask->shape.rank > 4 || !broadcast(a.mask->shape, wanted, both) ||
        (both != wanted && !call.is_loading())) {
      return call.mismatch("expected a mask for its queries and keys");
    }
    const Iteration walk = Iteration(wanted).add(a.mask->shape);
    std::copy_n(walk.strides(0), 4, mask_strides);
  }
  const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(q.width));
  const int64_t rows = q.batches * q.heads * q.rows;
  return call.dispatch("attention")
      .read(*a.q)
      .read(*a.k)
      .read(*a.v)
      .read(a.mask == nullptr ? *a.q : *a.mask)
      .write(weights)
      .write(*a.out)
      .constant(a.mask == nullptr ? 0 : 1)
      .params(q.strides[0], q.strides[1], q.strides[2], 1)
      .params(k.strides[0], k.strides[1], k.strides[2], 1)
      .params(v.strides[0], v.strides[1], v.strides[2], 1)
      .params(y.strides[0], y.strides[1], y.strides[2], 1)
      .params(mask_strides[0], mask_strides[1], mask_strides[2], mask_strides[3])
      .param(q.batches)
      .param(q.heads)
      .param(q.rows)
      .param(q.heads / k.heads)
      .param(a.num_keys)
      .param(q.width)
      .param(v.width)
      .param(int64_t{a.is_causal})
      .param(a.first)
      .param(row_stride)
      .param(to_float(scale))
      .groups(rows);
}

Error check_rank(Call& call, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* each : tensors) {
    if (each->shape.rank != 4) {
      return call.mismatch("expected inputs of 4 dimensions");
    }
  }
  return Error::Ok;
}

Error sdpa(Call& call) {
  Attention a;
  a.q = ET_UNWRAP(call.tensor(0));
  a.k = ET_UNWRAP(call.tensor(1));
  a.v = ET_UNWRAP(call.tensor(2));
  a.mask = ET_UNWRAP(call.optional_tensor(3));
  a.scale = to_float(ET_UNWRAP(call.number_or(4, 0)));
  a.out = ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(check_rank(call, {a.q, a.k, a.v}));
  a.num_keys = a.k->shape[2];
  return attend(call, a);
}

/// Rows of `value` [B, S, H, D] into the cache from row `start` on; those beyond it are left out.
Error update(Call& call, const Tensor& value, const Tensor& cache, int64_t start) {
  const Shape& from = value.shape;
  const Shape& to = cache.shape;
  if (from[0] != to[0] || from[2] != to[2] || from[3] != to[3] || start < 0) {
    return call.mismatch("expected a cache for its values");
  }
  Shape walk = from;
  walk[1] = static_cast<int32_t>(std::clamp<int64_t>(to[1] - start, 0, from[1]));
  int32_t source[kMaxRank] = {};
  int32_t target[kMaxRank] = {};
  dense_strides(from, source);
  dense_strides(to, target);
  return apply_unary(
      call, kIdentity, value, cache,
      Iteration(walk).add(source, 0).add(target, std::min<int64_t>(start, to[1]) * target[1]));
}

Error update_cache(Call& call) {
  const Tensor& value = *ET_UNWRAP(call.tensor(0));
  const Tensor& cache = *ET_UNWRAP(call.tensor(1));
  const int64_t start = ET_UNWRAP(call.integer(2));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(check_rank(call, {&value, &cache}));
  ET_CHECK_OK_OR_RETURN_ERROR(update(call, value, cache, start));
  // Its result is a token that no one reads.
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, out.bound));
  return Error::Ok;
}

/// From argument `at` on: position, [length,] mask, dropout, causal, scale.
Error with_cache(Call& call, const Tensor& q, const Tensor& k, const Tensor& v, size_t at,
                 bool has_length) {
  Attention a;
  a.q = &q;
  a.k = &k;
  a.v = &v;
  a.rows_first = true;
  const int64_t start = ET_UNWRAP(call.integer(at));
  const size_t next = at + (has_length ? 2 : 1);
  a.mask = ET_UNWRAP(call.optional_tensor(next));
  if (ET_UNWRAP(call.number_or(next + 1, 0)) != 0) {
    return call.refuse("expected no dropout");
  }
  a.is_causal = a.mask == nullptr && ET_UNWRAP(call.integer_or(next + 2, has_length ? 1 : 0))
  != 0;
  a.scale = to_float(ET_UNWRAP(call.number_or(next + 3, 0)));
  a.out = ET_UNWRAP(call.output());
  const int64_t end = start + q.shape[1];
  if (start < 0 || end > k.shape[1]) {
    return call.mismatch("a position beyond the cache");
  }
  a.first = start;
  a.num_keys = end;
  return attend(call, a);
}

Error sdpa_with_kv_cache(Call& call) {
  const Tensor& q = *ET_UNWRAP(call.tensor(0));
  const Tensor& k = *ET_UNWRAP(call.tensor(1));
  const Tensor& v = *ET_UNWRAP(call.tensor(2));
  const Tensor& k_cache = *ET_UNWRAP(call.tensor(3));
  const Tensor& v_cache = *ET_UNWRAP(call.tensor(4));
  const int64_t start = ET_UNWRAP(call.integer(5));
  ET_CHECK_OK_OR_RETURN_ERROR(check_rank(call, {&q, &k, &v, &k_cache, &v_cache}));
  ET_CHECK_OK_OR_RETURN_ERROR(update(call, k, k_cache, start));
  ET_CHECK_OK_OR_RETURN_ERROR(update(call, v, v_cache, start));
  return with_cache(call, q, k_cache, v_cache, 5, true);
}

Error custom_sdpa(Call& call) {
  const Tensor& q = *ET_UNWRAP(call.tensor(0));
  const Tensor& k = *ET_UNWRAP(call.tensor(1));
  const Tensor& v = *ET_UNWRAP(call.tensor(2));
  ET_CHECK_OK_OR_RETURN_ERROR(check_rank(call, {&q, &k, &v}));
  return with_cache(call, q, k, v, 3, false);
}

enum RotaryCode : int32_t { kNeighbours, kHalves, kBeside };

/// x [B, S, H, D]; or [B, N, C] with one head.
Error rotate(Call& call, const Tensor& x, Tensor& out, const Tensor& cosines, const Tensor& sines,
             int64_t first) {
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  const bool has_heads = x.shape.rank == 4;
  if (x.shape.rank < 3 || x.shape.rank > 4 || cosines.shape.rank < 1 || x.shape.at(-1) % 2 != 0) {
    return call.mismatch("expected an input of 3 or 4 dimensions and a table of angles");
  }
  const int64_t width = x.shape.at(-1);
  const int64_t table_width = cosines.shape.at(-1);
  const int64_t rotated = call.code() == kHalves ? table_width : width;
  const int64_t positions = x.shape[1];
  const int64_t by_position = call.code() == kBeside ? width : table_width;
  const bool fits = call.code() == kNeighbours ? table_width == width / 2
                    : call.code() == kHalves   ? rotated <= width && rotated % 2 == 0
                                               : true;
  if (!fits || first < 0 || (first + positions) * by_position > cosines.numel() ||
      (call.code() != kBeside && sines.numel() < cosines.numel())) {
    return call.mismatch("expected angles for its positions");
  }
  return call.dispatch("rotary")
      .read(x)
      .read(cosines)
      .read(sines)
      .write(out)
      .constant(call.code())
      .param(x.numel())
      .param(positions)
      .param(has_heads ? int64_t{x.shape[2]} : 1)
      .param(width)
      .param(rotated)
      .param(table_width)
      .param(first)
      .elements(x.numel());
}

Error rotary_pair(Call& call) {
  const Tensor& q = *ET_UNWRAP(call.tensor(0));
  const Tensor& k = *ET_UNWRAP(call.tensor(1));
  const Tensor& cosines = *ET_UNWRAP(call.tensor(2));
  const Tensor& sines = *ET_UNWRAP(call.tensor(3));
  const int64_t first = call.code() == kHalves ? ET_UNWRAP(call.integer(4)) : 0;
  const auto outs = ET_UNWRAP(call.outputs());
  if (outs.size() != 2) {
    return call.mismatch("expected two outputs");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(rotate(call, q, *outs[0], cosines, sines, first));
  return rotate(call, k, *outs[1], cosines, sines, first);
}

Error rotary_beside(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const Tensor& table = *ET_UNWRAP(call.tensor(1));
  return rotate(call, x, *ET_UNWRAP(call.output()), table, table, 0);
}

constexpr Operator kRows[] = {
    {"et_vk.sdpa.default", sdpa},
    {"sdpa_with_kv_cache.default", sdpa_with_kv_cache},
    {"llama.sdpa_with_kv_cache.default", sdpa_with_kv_cache},
    {"update_cache.default", update_cache},
    {"llama.update_cache.default", update_cache},
    {"llama.custom_sdpa.default", custom_sdpa},
    {"custom_sdpa.default", custom_sdpa},
    {"et_vk.apply_rotary_emb.default", rotary_pair, kNeighbours},
    {"et_vk.apply_rotary_emb_hf.default", rotary_pair, kHalves},
    {"et_vk.apply_rotary_emb_interleaved.default", rotary_beside, kBeside},
};

}  // namespace

Operators attention_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
