// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/custom_ops/op_sdpa.h>

#include <utility>

#include <executorch/extension/llm/custom_ops/cache_rows.h>
#include <executorch/extension/llm/custom_ops/op_sdpa_impl.h>
#include <executorch/kernels/optimized/attention/attention_mask.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>

namespace torch::executor::native {

namespace {

namespace llm = ::executorch::extension::llm;
using ::executorch::aten::ScalarType;
using ::executorch::kernels::is_row_major;
using ::executorch::kernels::OpCall;
using ::executorch::kernels::Shape;
using ::executorch::kernels::ShapeText;
using ::executorch::kernels::optimized::attend_side_by_side;
using ::executorch::kernels::optimized::AttentionMask;
using ::executorch::kernels::optimized::AttentionProblem;
using ::executorch::kernels::optimized::AttentionRows;
using ::executorch::kernels::optimized::is_narrow_float;
using ::executorch::runtime::Error;

// Scales and zero points of an int8 tensor.
struct Quantization {
  const optional<Tensor>& zeros;
  const optional<Tensor>& scales;
};

struct Arguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  int64_t start;
  const optional<Tensor>& mask;
  bool causal;
  optional<double> scale;
  SeqDim seq_dim = SeqDim::ONE;

  int64_t positions(const Tensor& t) const { return t.size(static_cast<int>(seq_dim)); }
  int64_t heads(const Tensor& t) const { return t.size(seq_dim == SeqDim::ONE ? 2 : 1); }
  bool has_mask() const { return mask.has_value() && mask->numel() > 0; }
};

bool check_tensor(const OpCall& call, const char* name, const Tensor& tensor, ScalarType type) {
  if (!check_rank(call, name, tensor, 4) || !check_dtype(call, name, tensor, type)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(tensor), InvalidArgument, false,
                      "%s: expected %s in row-major order, found another", call.op, name);
  return true;
}

bool check_mask(const OpCall& call, const Arguments& a) {
  ET_KERNEL_CHECK_MSG(call.ctx, !a.causal, InvalidArgument, false,
                      "%s: expected attn_mask or is_causal, found both", call.op);
  const Tensor& mask = *a.mask;
  const ScalarType type = mask.scalar_type();
  ET_KERNEL_CHECK_MSG(
      call.ctx, type == ScalarType::Float || type == ScalarType::Bool || is_narrow_float(type),
      InvalidArgument, false, "%s: expected attn_mask of Float, Half, BFloat16 or Bool, found %s",
      call.op, ::executorch::runtime::toString(type));
  const int64_t queries = a.positions(a.query), keys = a.positions(a.key);
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      mask.dim() == 2 && mask.size(0) == queries && mask.size(1) == keys && is_row_major(mask),
      InvalidArgument, false, "%s: expected row-major attn_mask [%lld, %lld], found %s", call.op,
      static_cast<long long>(queries), static_cast<long long>(keys), ShapeText(mask).text);
  return true;
}

bool check_keys(const OpCall& call, const Arguments& a) {
  const int64_t queries = a.positions(a.query), keys = a.positions(a.key);
  ET_KERNEL_CHECK_MSG(call.ctx, a.start <= keys - queries, InvalidArgument, false,
                      "%s: expected start_pos + %lld within the %lld rows of keys, found start_pos "
                      "%lld",
                      call.op, static_cast<long long>(queries), static_cast<long long>(keys),
                      static_cast<long long>(a.start));
  return true;
}

// All but the output; `type` is the query's, `cached` that of keys and values.
bool check_arguments(const OpCall& call, const Arguments& a, ScalarType type, ScalarType cached) {
  if (!check_tensor(call, "query", a.query, type) || !check_tensor(call, "key", a.key, cached) ||
      !check_tensor(call, "value", a.value, cached)) {
    return false;
  }
  bool fits = a.query.size(0) == a.key.size(0) && a.query.size(3) == a.key.size(3);
  for (int d = 0; d < 4; ++d) {
    fits = fits && a.key.size(d) == a.value.size(d);
  }
  const int64_t key_heads = a.heads(a.key);
  ET_KERNEL_CHECK_MSG(
      call.ctx, fits && key_heads > 0 && a.heads(a.query) % key_heads == 0, InvalidArgument, false,
      "%s: expected key and value of one shape, of query's batch and depth, whose heads divide "
      "query's, found query %s, key %s, value %s",
      call.op, ShapeText(a.query).text, ShapeText(a.key).text, ShapeText(a.value).text);
  return a.has_mask() ? check_mask(call, a) : check_keys(call, a);
}

bool check_float_arguments(const OpCall& call, const Arguments& a) {
  const ScalarType type = a.query.scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx, type == ScalarType::Float || is_narrow_float(type), InvalidArgument,
                      false, "%s: expected query of Float, Half or BFloat16, found %s", call.op,
                      ::executorch::runtime::toString(type));
  // Float queries read keys and values of half the size, too.
  const ScalarType key = a.key.scalar_type();
  return check_arguments(call, a, type,
                         type == ScalarType::Float && is_narrow_float(key) ? key : type);
}

AttentionRows rows_of(const Tensor& tensor, SeqDim seq_dim) {
  AttentionRows rows;
  rows.data = tensor.const_data_ptr();
  rows.type = tensor.scalar_type();
  const int64_t depth = tensor.size(3);
  rows.batch_stride = tensor.size(1) * tensor.size(2) * depth;
  const int64_t outer = tensor.size(2) * depth;
  rows.row_stride = seq_dim == SeqDim::ONE ? outer : depth;
  rows.head_stride = seq_dim == SeqDim::ONE ? depth : outer;
  return rows;
}

AttentionProblem problem_of(const Arguments& a) {
  AttentionProblem p;
  p.batch = a.query.size(0);
  p.heads = a.heads(a.query);
  p.key_heads = a.heads(a.key);
  p.queries = a.positions(a.query);
  p.keys = a.positions(a.key);
  p.depth = p.value_depth = a.query.size(3);
  p.scale = static_cast<float>(sdpa::impl::calculate_scale(a.query, a.scale));
  p.forbidden_is_nan = true;
  if (!a.has_mask()) {
    const int64_t end = a.start + p.queries;
    p.keys = end > 0 ? end : p.keys;
    p.causal = a.causal;
    p.first_query = a.start;
  }
  p.query = rows_of(a.query, a.seq_dim);
  p.key = rows_of(a.key, a.seq_dim);
  p.value = rows_of(a.value, a.seq_dim);
  return p;
}

bool prepare_output(const OpCall& call, const Arguments& a, ScalarType type, Tensor& output) {
  if (!check_dtype(call, "out", output, type) || !resize_output(call, output, Shape(a.query))) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(output), InvalidArgument, false,
                      "%s: expected out in row-major order, found another", call.op);
  return true;
}

bool check_attended(const OpCall& call, Error error) {
  ET_KERNEL_CHECK_MSG(call.ctx, error == Error::Ok, MemoryAllocationFailed, false,
                      "%s: expected scratch memory from the method's temporary allocator, found "
                      "too little",
                      call.op);
  return true;
}

// Resizes the output and computes; the arguments have been checked.
Tensor& attend_to(const OpCall& call, const Arguments& a, AttentionProblem p, ScalarType type,
                  Tensor& output) {
  if (prepare_output(call, a, type, output)) {
    p.out = rows_of(output, a.seq_dim);
    AttentionMask mask;  // of all heads
    if (a.has_mask()) {
      mask.mask = &*a.mask;
      mask.row_stride = p.keys;
      mask.col_stride = 1;
      mask.heads = p.heads;
      mask.key_heads = p.key_heads;
      p.step = &mask;
    }
    static_cast<void>(check_attended(call, ::executorch::kernels::optimized::attend(call.ctx, p)));
  }
  return output;
}

bool check_session_rows(const OpCall& call, const Arguments& a, const Tensor& rows,
                        int64_t rows_per_session) {
  const int64_t queries = a.positions(a.query), keys = a.positions(a.key);
  ET_KERNEL_CHECK_MSG(call.ctx,
                      a.query.size(0) == 1 && rows_per_session > 0 && keys % rows_per_session == 0,
                      InvalidArgument, false,
                      "%s: expected a batch of 1 and rows_per_session that divide the %lld rows of "
                      "keys, found query %s and %lld",
                      call.op, static_cast<long long>(keys), ShapeText(a.query).text,
                      static_cast<long long>(rows_per_session));
  if (!check_dtype(call, "rows", rows, ScalarType::Long)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, rows.dim() == 1 && rows.numel() == queries, InvalidArgument, false,
                      "%s: expected rows [%lld], one of each query, found %s", call.op,
                      static_cast<long long>(queries), ShapeText(rows).text);
  const auto* row = rows.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < queries; ++i) {
    ET_KERNEL_CHECK_MSG(call.ctx, row[i] >= 0 && row[i] < keys, InvalidArgument, false,
                        "%s: expected rows from 0 to %lld, found %lld", call.op,
                        static_cast<long long>(keys - 1), static_cast<long long>(row[i]));
  }
  return true;
}

void move_to(AttentionRows& rows, int64_t first) {
  const auto bytes = static_cast<int64_t>(::executorch::runtime::elementSize(rows.type));
  rows.data = static_cast<const uint8_t*>(rows.data) + first * rows.row_stride * bytes;
}

bool check_parameter(const OpCall& call, const char* name, const Tensor& codes,
                     const optional<Tensor>& given, ScalarType type) {
  ET_KERNEL_CHECK_MSG(call.ctx, given.has_value(), InvalidArgument, false,
                      "%s: expected %s, found none", call.op, name);
  if (!check_tensor(call, name, *given, type)) {
    return false;
  }
  const bool fits = given->size(0) == codes.size(0) && given->size(1) == codes.size(1) &&
                    given->size(2) == codes.size(2) && given->size(3) == 1;
  ET_KERNEL_CHECK_MSG(call.ctx, fits, InvalidArgument, false,
                      "%s: expected one of %s for each vector of %s, found %s", call.op, name,
                      ShapeText(codes).text, ShapeText(*given).text);
  return true;
}

bool check_quantized_arguments(const OpCall& call, const Arguments& a, const Quantization& query,
                               const Quantization& key, const Quantization& value) {
  constexpr ScalarType kScale = ScalarType::Float, kZero = ScalarType::Char;
  return check_arguments(call, a, ScalarType::Char, ScalarType::Char) &&
         check_parameter(call, "q_zero_points", a.query, query.zeros, kZero) &&
         check_parameter(call, "q_scales", a.query, query.scales, kScale) &&
         check_parameter(call, "k_zero_points", a.key, key.zeros, kZero) &&
         check_parameter(call, "k_scales", a.key, key.scales, kScale) &&
         check_parameter(call, "v_zero_points", a.value, value.zeros, kZero) &&
         check_parameter(call, "v_scales", a.value, value.scales, kScale);
}

void add_parameters(const Quantization& quantization, SeqDim seq_dim, AttentionRows& rows) {
  const AttentionRows each = rows_of(*quantization.scales, seq_dim);
  rows.scales = quantization.scales->const_data_ptr<float>();
  rows.zeros = quantization.zeros->const_data_ptr<int8_t>();
  rows.param_batch_stride = each.batch_stride;
  rows.param_head_stride = each.head_stride;
  rows.param_row_stride = each.row_stride;
}

}  // namespace

Tensor& sdpa_with_kv_cache_out(KernelRuntimeContext& ctx, const Tensor& q_projected,
                               const Tensor& k_projected, const Tensor& v_projected,
                               Tensor& key_cache, Tensor& value_cache, const int64_t start_pos,
                               const int64_t seq_len, const optional<Tensor>& attn_mask,
                               const double /*dropout_p*/, const bool is_causal,
                               const optional<double> scale, Tensor& output) {
  const OpCall call{ctx, "sdpa_with_kv_cache.out"};
  const Arguments a{q_projected, key_cache, value_cache, start_pos, attn_mask, is_causal, scale};
  if (!llm::check_cache_rows(call, k_projected, key_cache, start_pos) ||
      !llm::check_cache_rows(call, v_projected, value_cache, start_pos) ||
      !check_float_arguments(call, a)) {
    return output;
  }
  ET_KERNEL_CHECK_MSG(ctx, seq_len <= key_cache.size(1) - start_pos, InvalidArgument, output,
                      "%s: expected start_pos + seq_len within the cache's %lld rows, found %lld "
                      "and %lld",
                      call.op, static_cast<long long>(key_cache.size(1)),
                      static_cast<long long>(start_pos), static_cast<long long>(seq_len));
  llm::write_cache_rows(k_projected, key_cache, start_pos);
  llm::write_cache_rows(v_projected, value_cache, start_pos);
  return attend_to(call, a, problem_of(a), q_projected.scalar_type(), output);
}

Tensor& custom_sdpa_out(RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                        const int64_t start_pos, const optional<Tensor>& attn_mask,
                        const double /*dropout_p*/, const bool is_causal,
                        const optional<double> scale, Tensor& output) {
  const OpCall call{ctx, "custom_sdpa.out"};
  const Arguments a{q, k, v, start_pos, attn_mask, is_causal, scale};
  return check_float_arguments(call, a) ? attend_to(call, a, problem_of(a), q.scalar_type(), output)
                                        : output;
}

Tensor& sdpa_of_sessions_out(RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                             const Tensor& rows, const int64_t rows_per_session,
                             const optional<double> scale, Tensor& output) {
  const OpCall call{ctx, "sdpa_of_sessions.out"};
  const optional<Tensor> no_mask;
  const Arguments a{q, k, v, /*start=*/0, no_mask, /*causal=*/true, scale};
  if (!check_float_arguments(call, a) || !check_session_rows(call, a, rows, rows_per_session) ||
      !prepare_output(call, a, q.scalar_type(), output)) {
    return output;
  }
  // Single queries go side by side, as many at a time as the array holds.
  constexpr size_t kMax = 32;
  AttentionProblem single[kMax];
  size_t num_single = 0;
  const auto attend_to_single = [&] {
    const size_t count = std::exchange(num_single, 0);
    return count == 0 || check_attended(call, attend_side_by_side(ctx, {single, count}));
  };
  const auto* row = rows.const_data_ptr<int64_t>();
  const int64_t queries = a.positions(q);
  for (int64_t first = 0, end = 0; first < queries; first = end) {
    const int64_t begin = row[first] - row[first] % rows_per_session;
    for (end = first + 1;
         end < queries && row[end] == row[end - 1] + 1 && row[end] < begin + rows_per_session;
         ++end) {
    }
    AttentionProblem p = problem_of(a);
    p.queries = end - first;
    p.first_query = row[first] - begin;
    p.keys = p.first_query + p.queries;
    p.out = rows_of(output, a.seq_dim);
    move_to(p.query, first);
    move_to(p.out, first);
    move_to(p.key, begin);
    move_to(p.value, begin);
    if (p.queries == 1) {
      single[num_single++] = p;
    }
    const bool is_done =
        p.queries == 1 ? num_single < kMax || attend_to_single()
                       : check_attended(call, ::executorch::kernels::optimized::attend(ctx, p));
    if (!is_done) {
      return output;
    }
  }
  static_cast<void>(attend_to_single());
  return output;
}

Tensor& custom_quantized_sdpa_out(
    RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v, const int64_t start_pos,
    const optional<Tensor>& attn_mask, const double /*dropout_p*/, const bool is_causal,
    const optional<double> scale, const optional<Tensor>& q_zero_points,
    const optional<Tensor>& q_scales, const optional<Tensor>& k_zero_points,
    const optional<Tensor>& k_scales, const optional<Tensor>& v_zero_points,
    const optional<Tensor>& v_scales, const bool is_seq_at_dim_2, Tensor& output) {
  const OpCall call{ctx, "custom_quantized_sdpa.out"};
  const SeqDim seq_dim = is_seq_at_dim_2 ? SeqDim::TWO : SeqDim::ONE;
  const Arguments a{q, k, v, start_pos, attn_mask, is_causal, scale, seq_dim};
  const Quantization of_query{q_zero_points, q_scales};
  const Quantization of_key{k_zero_points, k_scales}, of_value{v_zero_points, v_scales};
  if (!check_quantized_arguments(call, a, of_query, of_key, of_value)) {
    return output;
  }
  AttentionProblem p = problem_of(a);
  add_parameters(of_query, seq_dim, p.query);
  add_parameters(of_key, seq_dim, p.key);
  add_parameters(of_value, seq_dim, p.value);
  return attend_to(call, a, p, ScalarType::Float, output);
}

Tensor& flash_attention_kernel_out(KernelRuntimeContext& ctx, const Tensor& query,
                                   const Tensor& key, const Tensor& value,
                                   const optional<Tensor>& attn_mask, const double /*dropout_p*/,
                                   const bool is_causal, const optional<double> scale,
                                   Tensor& output) {
  const optional<Tensor> none;
  sdpa::impl::flash_attention(ctx, output, query, key, value, is_causal, attn_mask, scale, none,
                              none, none, none, none, none, SeqDim::TWO, /*start_pos=*/0,
                              /*num_keys_for_causal_attention=*/-1);
  return output;
}

void sdpa::impl::flash_attention(RuntimeContext& ctx, Tensor& output, const Tensor& query,
                                 const Tensor& key, const Tensor& value, bool is_causal,
                                 const optional<Tensor>& attn_mask, const optional<double>& scale,
                                 const optional<Tensor>& q_zero_points,
                                 const optional<Tensor>& q_scales,
                                 const optional<Tensor>& k_zero_points,
                                 const optional<Tensor>& k_scales,
                                 const optional<Tensor>& v_zero_points,
                                 const optional<Tensor>& v_scales, SeqDim seq_dim,
                                 int64_t start_pos, int64_t num_keys_for_causal_attention) {
  const OpCall call{ctx, "flash_attention"};
  const auto position_dim = static_cast<int>(seq_dim);
  const int64_t rows = key.dim() == 4 ? key.size(position_dim) : int64_t{0};
  const int64_t keys = num_keys_for_causal_attention < 0 ? rows : num_keys_for_causal_attention;
  // of as many keys as there are, the queries are the last, so far as checks are concerned
  const int64_t last = query.dim() == 4 ? keys - query.size(position_dim) : int64_t{0};
  const Arguments a{query, key, value, last, attn_mask, is_causal, scale, seq_dim};
  const bool is_quantized = query.scalar_type() == ScalarType::Char;
  const bool is_valid =
      is_quantized ? check_quantized_arguments(call, a, {q_zero_points, q_scales},
                                               {k_zero_points, k_scales}, {v_zero_points, v_scales})
                   : check_float_arguments(call, a);
  if (!is_valid) {
    return;
  }
  AttentionProblem p = problem_of(a);
  if (!a.has_mask()) {
    p.keys = keys;
    p.first_query = start_pos;
  }
  if (is_quantized) {
    add_parameters({q_zero_points, q_scales}, seq_dim, p.query);
    add_parameters({k_zero_points, k_scales}, seq_dim, p.key);
    add_parameters({v_zero_points, v_scales}, seq_dim, p.value);
  }
  attend_to(call, a, p, is_quantized ? ScalarType::Float : query.scalar_type(), output);
}

}  // namespace torch::executor::native
