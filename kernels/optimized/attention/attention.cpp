// SPDX-License-Identifier: BSD-3-Clause
// scaled_dot_product_attention of dense tensors.
#include <executorch/kernels/portable/attention/attention.h>

#include <executorch/kernels/optimized/attention/attention_mask.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/NativeFunctions.h>

namespace executorch::kernels::optimized {

namespace {

bool is_fast(const AttentionArguments& a, const Tensor& out) {
  const bool narrow_type = is_narrow_float(a.query.scalar_type());
  return (narrow_type || is_f32(a.query)) && is_contiguous(a.query) && is_contiguous(a.key) &&
         is_contiguous(a.value) && is_contiguous(out) &&
         (!a.mask.has_value() || is_contiguous(*a.mask));
}

// Matrices of dense tensors, one after the other: those of a batch are `heads` apart.
AttentionRows rows_of(const Tensor& tensor, int64_t heads, int64_t rows, int64_t depth) {
  AttentionRows found;
  found.data = tensor.const_data_ptr();
  found.type = tensor.scalar_type();
  found.row_stride = depth;
  found.head_stride = rows * depth;
  found.batch_stride = heads * found.head_stride;
  return found;
}

AttentionProblem problem_of(const Attention& plan, const AttentionArguments& a, ScalarType type,
                            const Tensor& out) {
  AttentionProblem p;
  p.batch = plan.heads == 0 ? 0 : plan.matrices / plan.heads;
  p.heads = plan.heads;
  p.key_heads = plan.key_heads;
  p.queries = plan.queries;
  p.keys = plan.keys;
  p.depth = plan.depth;
  p.value_depth = plan.value_depth;
  p.scale = static_cast<float>(plan.scale);
  p.causal = plan.causal;
  p.query = rows_of(a.query, plan.heads, plan.queries, plan.depth);
  p.key = rows_of(a.key, plan.key_heads, plan.keys, plan.depth);
  p.value = rows_of(a.value, plan.key_heads, plan.keys, plan.value_depth);
  p.out = rows_of(out, plan.heads, plan.queries, plan.value_depth);
  p.out.type = type;
  return p;
}

AttentionMask mask_of(const Attention& plan, const AttentionArguments& a) {
  AttentionMask found;
  found.mask = plan.mask;
  found.like = &a.query;
  found.row_stride = plan.mask_row_stride;
  found.col_stride = plan.mask_col_stride;
  found.heads = plan.heads;
  found.key_heads = plan.key_heads;
  return found;
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
  optimized::AttentionProblem problem =
      optimized::problem_of(plan, arguments, query.scalar_type(), out);
  const optimized::AttentionMask mask = optimized::mask_of(plan, arguments);
  problem.step = plan.mask != nullptr ? &mask : nullptr;
  return optimized::attend(ctx, problem) == Error::Ok ? out : portable();
}

}  // namespace torch::executor::native
