// SPDX-License-Identifier: BSD-3-Clause
// scaled_dot_product_attention as the readable reference: one query at a time, two passes over the
// keys, no memory but the stack.
#include <executorch/kernels/portable/attention/attention.h>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace executorch {
namespace kernels {

namespace {

bool check_shapes(const OpCall& call, const AttentionArguments& a) {
  const Tensor& q = a.query;
  const int64_t rank = q.dim();
  ET_KERNEL_CHECK_MSG(call.ctx, rank >= (a.grouped ? 3 : 2), InvalidArgument, false,
                      "%s: expected query of at least %d dims, found %d", call.op,
                      a.grouped ? 3 : 2, static_cast<int>(rank));
  if (!check_rank(call, "key", a.key, rank) || !check_rank(call, "value", a.value, rank)) {
    return false;
  }
  for (int64_t d = 0; d < rank - 2; ++d) {
    const bool heads = d == rank - 3;
    const int64_t shared = a.key.size(d);
    const bool fits =
        heads && a.grouped ? shared > 0 && q.size(d) % shared == 0 : shared == q.size(d);
    ET_KERNEL_CHECK_MSG(call.ctx, fits && a.value.size(d) == shared, InvalidArgument, false,
                        "%s: expected dim %d of query, key and value to fit, found %d, %d and %d",
                        call.op, static_cast<int>(d), static_cast<int>(q.size(d)),
                        static_cast<int>(shared), static_cast<int>(a.value.size(d)));
  }
  return check_count(call, "depth of key", a.key.size(rank - 1), q.size(rank - 1)) &&
         check_count(call, "keys of value", a.value.size(rank - 2), a.key.size(rank - 2));
}

bool check_mask(const OpCall& call, const AttentionArguments& a, const Shape& scores) {
  if (!a.mask.has_value()) {
    return true;
  }
  const ScalarType type = a.mask->scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx, !a.causal, InvalidArgument, false,
                      "%s: expected either attn_mask or is_causal, found both", call.op);
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      type == ScalarType::Bool || type == ScalarType::Float || type == a.query.scalar_type(),
      InvalidArgument, false, "%s: expected attn_mask of Bool, Float or query's dtype, found %s",
      call.op, ::executorch::runtime::toString(type));
  ET_KERNEL_CHECK_MSG(call.ctx, broadcasts_to(Shape(*a.mask), scores), InvalidArgument, false,
                      "%s: expected attn_mask to broadcast to the scores %s, found %s", call.op,
                      ShapeText(scores).text, ShapeText(*a.mask).text);
  return true;
}

int64_t broadcast_stride(const Tensor& tensor, int64_t dim) {
  return dim < 0 || tensor.size(dim) == 1 ? 0 : tensor.strides()[dim];
}

}  // namespace

bool plan_attention(const OpCall& call, const AttentionArguments& a, const Tensor& out,
                    Attention& plan) {
  const Tensor& q = a.query;
  ET_KERNEL_CHECK_MSG(call.ctx, a.dropout == 0.0, InvalidArgument, false,
                      "%s: expected dropout_p 0, found %g", call.op, a.dropout);
  if (!check_floating(call, "query", q) || !check_same_dtype(call, "key", a.key, "query", q) ||
      !check_same_dtype(call, "value", a.value, "query", q) ||
      !check_same_dtype(call, "out", out, "query", q) || !check_shapes(call, a)) {
    return false;
  }
  const int64_t rank = q.dim();
  plan = {};
  plan.matrices = 1;
  for (int64_t d = 0; d < rank - 2; ++d) {
    plan.matrices *= q.size(d);
  }
  plan.heads = rank > 2 ? q.size(rank - 3) : 1;
  plan.key_heads = rank > 2 ? a.key.size(rank - 3) : 1;
  plan.queries = q.size(rank - 2);
  plan.keys = a.key.size(rank - 2);
  plan.depth = q.size(rank - 1);
  plan.value_depth = a.value.size(rank - 1);
  plan.scale = a.scale.has_value() ? *a.scale : 1.0 / std::sqrt(static_cast<double>(plan.depth));
  plan.causal = a.causal;
  Shape shape(q);
  shape.sizes[rank - 1] = plan.keys;
  if (!check_mask(call, a, shape)) {
    return false;
  }
  if (a.mask.has_value()) {
    plan.mask = &*a.mask;
    plan.mask_row_stride = broadcast_stride(*a.mask, a.mask->dim() - 2);
    plan.mask_col_stride = broadcast_stride(*a.mask, a.mask->dim() - 1);
  }
  shape.sizes[rank - 1] = plan.value_depth;
  return resize_output(call, out, shape);
}

int64_t matrix_offset(const Tensor& tensor, const Tensor& like, int64_t index) {
  int64_t offset = 0;
  for (int64_t d = like.dim() - 3; d >= 0; --d) {
    const int64_t at = d + tensor.dim() - like.dim();
    offset += index % like.size(d) * broadcast_stride(tensor, at);
    index /= like.size(d);
  }
  return offset;
}

namespace {

// A matrix of a tensor, read in lines of the compute type.
template <typename C>
struct Rows {
  StridedReader<C> reader;
  int64_t offset, row_stride, col_stride;

  Rows(const Tensor& tensor, const Tensor& like, int64_t matrix)
      : reader(tensor),
        offset(matrix_offset(tensor, like, matrix)),
        row_stride(tensor.strides()[tensor.dim() - 2]),
        col_stride(tensor.strides()[tensor.dim() - 1]) {}

  const C* read(int64_t row, int64_t col, int64_t n, C* buffer) const {
    return reader.read(offset + row * row_stride + col * col_stride, col_stride, n, buffer);
  }
};

// One head: its scores, and what they make of the values.
template <typename C>
class Head {
 public:
  Head(const Attention& plan, const AttentionArguments& a, const Tensor& out, int64_t matrix)
      : plan_(plan),
        query_(a.query, a.query, matrix),
        key_(a.key, a.key, plan.key_matrix(matrix)),
        value_(a.value, a.value, plan.key_matrix(matrix)),
        mask_(plan.mask != nullptr ? *plan.mask : a.query),
        mask_offset_(plan.mask != nullptr ? matrix_offset(*plan.mask, a.query, matrix) : 0),
        writer_(out),
        out_offset_(matrix_offset(out, a.query, matrix)),
        out_row_stride_(out.strides()[out.dim() - 2]),
        out_col_stride_(out.strides()[out.dim() - 1]) {}

  void attend(int64_t row) const {
    const int64_t keys = plan_.causal ? std::min(plan_.keys, row + 1) : plan_.keys;
    C highest = -std::numeric_limits<C>::infinity();
    for (int64_t key = 0; key < keys; ++key) {
      const C s = score(row, key);
      highest = s > highest || std::isnan(s) ? s : highest;
    }
    C sums[kChunk];
    C buffer[kChunk];
    for (int64_t col = 0; col < plan_.value_depth; col += kChunk) {
      const int64_t n = std::min<int64_t>(kChunk, plan_.value_depth - col);
      std::fill_n(sums, n, C(0));
      C total = 0;
      // With no key allowed the result is 0.
      for (int64_t key = 0; key < keys && !is_lowest(highest); ++key) {
        const C weight = std::exp(score(row, key) - highest);
        const C* values = value_.read(key, col, n, buffer);
        total += weight;
        for (int64_t i = 0; i < n; ++i) {
          sums[i] += weight * values[i];
        }
      }
      for (int64_t i = 0; i < n && !is_lowest(highest); ++i) {
        sums[i] /= total;
      }
      writer_.write(out_offset_ + row * out_row_stride_ + col * out_col_stride_, out_col_stride_, n,
                    sums);
    }
  }

 private:
  static bool is_lowest(C value) { return value == -std::numeric_limits<C>::infinity(); }

  C score(int64_t row, int64_t key) const {
    C q_buffer[kChunk], k_buffer[kChunk];
    C sum = 0;
    for (int64_t d = 0; d < plan_.depth; d += kChunk) {
      const int64_t n = std::min<int64_t>(kChunk, plan_.depth - d);
      const C* q = query_.read(row, d, n, q_buffer);
      const C* k = key_.read(key, d, n, k_buffer);
      sum += lane_sum<C>(n, [&](int64_t i) { return q[i] * k[i]; });
    }
    sum *= static_cast<C>(plan_.scale);
    if (plan_.mask == nullptr) {
      return sum;
    }
    const C mask =
        mask_.at(mask_offset_ + row * plan_.mask_row_stride + key * plan_.mask_col_stride);
    if (plan_.mask->scalar_type() == ScalarType::Bool) {
      return mask != C(0) ? sum : -std::numeric_limits<C>::infinity();
    }
    return sum + mask;
  }

  const Attention& plan_;
  Rows<C> query_, key_, value_;
  StridedReader<C> mask_;
  int64_t mask_offset_;
  StridedWriter<C> writer_;
  int64_t out_offset_, out_row_stride_, out_col_stride_;
};

}  // namespace
}  // namespace kernels
}  // namespace executorch

namespace torch::executor::native {

using namespace ::executorch::kernels;

Tensor& scaled_dot_product_attention_out(KernelRuntimeContext& ctx, const Tensor& query,
                                         const Tensor& key, const Tensor& value,
                                         const std::optional<Tensor>& attn_mask, double dropout_p,
                                         bool is_causal, std::optional<double> scale,
                                         bool enable_gqa, Tensor& out) {
  const OpCall call{ctx, "scaled_dot_product_attention.out"};
  const AttentionArguments arguments{query,     key,       value, attn_mask,
                                     dropout_p, is_causal, scale, enable_gqa};
  Attention plan;
  if (!plan_attention(call, arguments, out, plan)) {
    return out;
  }
  with_compute_type(compute_type_of(out.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    if constexpr (std::is_floating_point_v<C>) {
      for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
        const Head<C> head(plan, arguments, out, matrix);
        for (int64_t row = 0; row < plan.queries; ++row) {
          head.attend(row);
        }
      }
    }
  });
  return out;
}

}  // namespace torch::executor::native
