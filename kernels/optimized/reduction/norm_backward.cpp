// SPDX-License-Identifier: BSD-3-Clause
// native_layer_norm_backward and native_group_norm_backward of dense f32 tensors; the rest is the
// portable kernels'.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/norm_backward.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <optional>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::norm_gradient;
using executorch::kernels::optimized::NormGradient;
using executorch::kernels::optimized::same_sizes;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

using Gradients = std::tuple<Tensor&, Tensor&, Tensor&>;
using Sizes = ArrayRef<SizesType>;

struct Inputs {
  const Tensor& grad;
  const Tensor& input;
  const Tensor& mean;
  const Tensor& rstd;
  const std::optional<Tensor>& weight;
};

// The output's memory when it is wanted; false when it is no dense f32 tensor of that shape.
bool output(bool wanted, Tensor& out, Sizes sizes, float*& data) {
  data = nullptr;
  if (!wanted) {
    return true;
  }
  if (!is_f32(out) || executorch::runtime::resize_tensor(out, sizes) != Error::Ok ||
      !is_contiguous(out)) {
    return false;
  }
  data = out.mutable_data_ptr<float>();
  return true;
}

// Computes what `mask` asks for; false for a case of the portable kernel.
bool run(KernelRuntimeContext& ctx, const Inputs& in, NormGradient p, ArrayRef<bool> mask,
         Sizes affine, const Gradients& outs) {
  const bool dense = is_dense_f32(in.grad) && is_dense_f32(in.input) && is_dense_f32(in.mean) &&
                     is_dense_f32(in.rstd) && same_sizes(in.grad, in.input) &&
                     in.input.numel() > 0 && in.mean.numel() == p.rows &&
                     in.rstd.numel() == p.rows &&
                     (!in.weight.has_value() ||
                      (is_dense_f32(*in.weight) && in.weight->numel() == p.groups * p.channels));
  if (!dense || mask.size() != 3 ||
      !output(mask[0], std::get<0>(outs), in.input.sizes(), p.grad_input) ||
      !output(mask[1], std::get<1>(outs), affine, p.grad_weight) ||
      !output(mask[2], std::get<2>(outs), affine, p.grad_bias)) {
    return false;
  }
  p.grad = in.grad.const_data_ptr<float>();
  p.input = in.input.const_data_ptr<float>();
  p.mean = in.mean.const_data_ptr<float>();
  p.rstd = in.rstd.const_data_ptr<float>();
  p.weight = in.weight.has_value() ? in.weight->const_data_ptr<float>() : nullptr;
  return norm_gradient(ctx, p) == Error::Ok;
}

}  // namespace

Gradients opt_native_layer_norm_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_out,
                                             const Tensor& input, IntArrayRef normalized_shape,
                                             const Tensor& mean, const Tensor& rstd,
                                             const std::optional<Tensor>& weight,
                                             const std::optional<Tensor>& bias,
                                             ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1,
                                             Tensor& out2) {
  const auto rank = static_cast<int64_t>(normalized_shape.size());
  const int64_t lead = input.dim() - rank;
  bool fits = lead >= 0 && rank > 0;
  NormGradient p = {1, 1, 1, 1};
  for (int64_t d = 0; fits && d < input.dim(); ++d) {
    (d < lead ? p.rows : p.channels) *= input.size(d);
    fits = d < lead || normalized_shape[static_cast<size_t>(d - lead)] == input.size(d);
  }
  const Gradients outs{out0, out1, out2};
  const Inputs in{grad_out, input, mean, rstd, weight};
  if (fits && run(ctx, in, p, output_mask, input.sizes().slice(static_cast<size_t>(lead)), outs)) {
    return outs;
  }
  return native_layer_norm_backward_out(ctx, grad_out, input, normalized_shape, mean, rstd, weight,
                                        bias, output_mask, out0, out1, out2);
}

Gradients opt_native_group_norm_backward_out(
    KernelRuntimeContext& ctx, const Tensor& grad_out, const Tensor& input, const Tensor& mean,
    const Tensor& rstd, const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t HxW,
    int64_t group, ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  const bool fits = input.dim() >= 2 && N > 0 && C > 0 && HxW > 1 && group > 0 && C % group == 0 &&
                    N == input.size(0) && C == input.size(1) && input.numel() / (N * C) == HxW;
  const Gradients outs{out0, out1, out2};
  const Inputs in{grad_out, input, mean, rstd, weight};
  const SizesType channels[1] = {static_cast<SizesType>(C)};
  if (fits && run(ctx, in, NormGradient{N * group, group, C / group, HxW}, output_mask,
                  Sizes(channels, 1), outs)) {
    return outs;
  }
  return native_group_norm_backward_out(ctx, grad_out, input, mean, rstd, weight, N, C, HxW, group,
                                        output_mask, out0, out1, out2);
}

}  // namespace torch::executor::native
