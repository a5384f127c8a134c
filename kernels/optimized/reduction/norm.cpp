// SPDX-License-Identifier: BSD-3-Clause
// Normalization of f32 tensors and of 16-bit floats: of rows, of groups of channels, and by channel
// with given statistics.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/narrow_reduction.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::StridedReader;
using executorch::kernels::optimized::as_f32;
using executorch::kernels::optimized::compute_dim;
using executorch::kernels::optimized::group_norm;
using executorch::kernels::optimized::GroupNorm;
using executorch::kernels::optimized::InnerLoops;
using executorch::kernels::optimized::is_channels_last;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::is_f32_or_narrower;
using executorch::kernels::optimized::layer_norm;
using executorch::kernels::optimized::LayerNorm;
using executorch::kernels::optimized::put_f32;
using executorch::kernels::optimized::same_layout;
using executorch::kernels::optimized::scale_channels;
using executorch::kernels::optimized::scale_channels_last;
using executorch::kernels::optimized::scratch;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::resize_tensor;

namespace {

// A parameter that is missing, or n dense floats of `type` or of f32.
bool fits(const std::optional<Tensor>& t, int64_t n, ScalarType type) {
  return !t.has_value() ||
         ((is_f32(*t) || t->scalar_type() == type) && is_contiguous(*t) && t->numel() == n);
}

bool has_shape(const std::optional<Tensor>& t, IntArrayRef shape) {
  return !t.has_value() || (t->sizes().size() == shape.size() &&
                            std::equal(shape.begin(), shape.end(), t->sizes().begin()));
}

// A parameter in f32: its own memory, or a copy; false when there is no memory for that. A missing
// one is null.
bool parameter(KernelRuntimeContext& ctx, const std::optional<Tensor>& t, const float*& values) {
  values = nullptr;
  if (!t.has_value()) {
    return true;
  }
  float* const copy = is_f32(*t) ? nullptr : scratch<float>(ctx, t->numel());
  values = as_f32(t->scalar_type(), t->const_data_ptr(), t->numel(), copy);
  return values != nullptr;
}

// Room for the f32 values of an output of n: its own memory where it is Float.
float* room_for(KernelRuntimeContext& ctx, const Tensor& out, int64_t n) {
  return is_f32(out) ? out.mutable_data_ptr<float>() : scratch<float>(ctx, n);
}

// True when normalized_shape is the tail of input's shape; n is then its number of elements.
bool normalizes_tail(const Tensor& input, IntArrayRef shape, int64_t& n) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0 || rank > input.dim()) {
    return false;
  }
  n = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (shape[static_cast<size_t>(i)] != input.size(input.dim() - rank + i)) {
      return false;
    }
    n *= input.size(input.dim() - rank + i);
  }
  return n > 0;
}

// Statistics have the input's shape with 1 for each normalized dimension.
bool resize_statistics(const Tensor& input, int64_t normalized, Tensor& mean, Tensor& rstd) {
  SizesType sizes[kTensorDimensionLimit];
  const int64_t rank = input.dim();
  for (int64_t d = 0; d < rank; ++d) {
    sizes[d] = d < rank - normalized ? static_cast<SizesType>(input.size(d)) : 1;
  }
  const executorch::aten::ArrayRef<SizesType> shape(sizes, static_cast<size_t>(rank));
  return resize_tensor(mean, shape) == Error::Ok && resize_tensor(rstd, shape) == Error::Ok;
}

// Whether the input is dense floats, the output the same, and the statistics f32 or that, too.
bool are_normalized(const Tensor& input, const Tensor& out, const Tensor& mean,
                    const Tensor& rstd) {
  const ScalarType type = input.scalar_type();
  const auto is_statistic = [&](const Tensor& t) { return is_f32(t) || t.scalar_type() == type; };
  return is_f32_or_narrower(input) && is_contiguous(input) && out.scalar_type() == type &&
         is_statistic(mean) && is_statistic(rstd);
}

// `count` statistics of `lines` whole lines of `n`, and the normalized lines; `run` takes some of
// the lines and says how many statistics these have. False where 16-bit floats find no memory for
// f32 copies.
template <typename Norm, typename Run>
bool normalize(KernelRuntimeContext& ctx, const Tensor& input, int64_t lines, int64_t n,
               int64_t count, Norm p, const std::optional<Tensor>& weight,
               const std::optional<Tensor>& bias, Tensor& out, Tensor& mean, Tensor& rstd,
               const Run& run) {
  float* const means = room_for(ctx, mean, count);
  float* const scales = room_for(ctx, rstd, count);
  if (means == nullptr || scales == nullptr || !parameter(ctx, weight, p.weight) ||
      !parameter(ctx, bias, p.bias)) {
    return false;
  }
  p.mean = means;
  p.rstd = scales;
  const auto some = [&](const InnerLoops& part, const float* in, float* result) {
    p.in = in;
    p.out = result;
    const int64_t done = run(p, part.outer);
    p.mean += done;
    p.rstd += done;
  };
  if (!compute_dim(ctx, {lines, n, 1}, input, out, n, some)) {
    return false;
  }
  put_f32(mean.scalar_type(), means, count, mean.mutable_data_ptr());
  put_f32(rstd.scalar_type(), scales, count, rstd.mutable_data_ptr());
  return true;
}

// Layer norm of rows of n.
bool normalize_rows(KernelRuntimeContext& ctx, const Tensor& input, int64_t n,
                    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                    double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  const int64_t rows = input.numel() / n;
  LayerNorm p;
  p.n = n;
  p.eps = static_cast<float>(eps);
  return normalize(ctx, input, rows, n, rows, p, weight, bias, out, mean, rstd,
                   [](LayerNorm& part, int64_t lines) {
                     part.rows = lines;
                     layer_norm(part);
                     return lines;
                   });
}

// Group norm, `p` telling sizes and eps.
bool normalize_groups(KernelRuntimeContext& ctx, const Tensor& input, GroupNorm p,
                      const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                      Tensor& out, Tensor& mean, Tensor& rstd) {
  return normalize(ctx, input, p.images, p.channels * p.plane, p.images * p.groups, p, weight, bias,
                   out, mean, rstd, [](GroupNorm& part, int64_t images) {
                     part.images = images;
                     group_norm(part);
                     return images * part.groups;
                   });
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_layer_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double eps, Tensor& out,
    Tensor& mean_out, Tensor& rstd_out) {
  const ScalarType type = input.scalar_type();
  int64_t n = 0;
  const bool fast =
      are_normalized(input, out, mean_out, rstd_out) &&
      normalizes_tail(input, normalized_shape, n) && fits(weight, n, type) && fits(bias, n, type) &&
      has_shape(weight, normalized_shape) && has_shape(bias, normalized_shape) &&
      resize_tensor(out, input.sizes()) == Error::Ok && is_contiguous(out) &&
      resize_statistics(input, static_cast<int64_t>(normalized_shape.size()), mean_out, rstd_out);
  if (!fast || !normalize_rows(ctx, input, n, weight, bias, eps, out, mean_out, rstd_out)) {
    return native_layer_norm_out(ctx, input, normalized_shape, weight, bias, eps, out, mean_out,
                                 rstd_out);
  }
  return {out, mean_out, rstd_out};
}

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_group_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
    Tensor& out, Tensor& mean_out, Tensor& rstd_out) {
  const ScalarType type = input.scalar_type();
  const SizesType statistics[2] = {static_cast<SizesType>(N), static_cast<SizesType>(group)};
  const bool fast = are_normalized(input, out, mean_out, rstd_out) && input.dim() >= 2 &&
                    input.numel() > 0 && input.size(0) == N && input.size(1) == C &&
                    input.numel() / (N * C) == HxW && group > 0 && C % group == 0 &&
                    fits(weight, C, type) && fits(bias, C, type) &&
                    resize_tensor(out, input.sizes()) == Error::Ok && is_contiguous(out) &&
                    resize_tensor(mean_out, {statistics, 2}) == Error::Ok &&
                    resize_tensor(rstd_out, {statistics, 2}) == Error::Ok;
  if (!fast || !normalize_groups(ctx, input, {N, C, HxW, group, static_cast<float>(eps)}, weight,
                                 bias, out, mean_out, rstd_out)) {
    return native_group_norm_out(ctx, input, weight, bias, N, C, HxW, group, eps, out, mean_out,
                                 rstd_out);
  }
  return {out, mean_out, rstd_out};
}

namespace {

// out = (input - mean) / sqrt(variance + eps) * weight + bias by channel, with given statistics;
// the two outputs for new ones become empty. False for a case of the portable kernel.
bool normalize_channels(KernelRuntimeContext& ctx, const Tensor& input,
                        const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                        const Tensor& running_mean, const Tensor& running_var, double eps,
                        Tensor& out, Tensor& mean_out, Tensor& invstd_out) {
  const int64_t channels = input.dim() >= 2 ? input.size(1) : 0;
  const ScalarType type = input.scalar_type();
  const SizesType none[1] = {0};
  const bool fast = channels > 0 && input.numel() > 0 && is_f32_or_narrower(input) &&
                    out.scalar_type() == input.scalar_type() &&
                    (is_contiguous(input) || is_channels_last(input)) &&
                    fits(running_mean, channels, type) && fits(running_var, channels, type) &&
                    fits(weight, channels, type) && fits(bias, channels, type) &&
                    resize_tensor(out, input.sizes()) == Error::Ok && same_layout(input, out) &&
                    resize_tensor(mean_out, {none, 1}) == Error::Ok &&
                    resize_tensor(invstd_out, {none, 1}) == Error::Ok;
  if (!fast) {
    return false;
  }
  auto* scale = scratch<float>(ctx, 2 * channels);
  if (scale == nullptr) {
    return false;
  }
  float* shift = scale + channels;
  const StridedReader<float> means(running_mean), variances(running_var);
  const StridedReader<float> weights(weight.has_value() ? *weight : running_mean);
  const StridedReader<float> biases(bias.has_value() ? *bias : running_mean);
  for (int64_t c = 0; c < channels; ++c) {
    const float invstd = 1.0f / std::sqrt(variances.at(c) + static_cast<float>(eps));
    scale[c] = weight.has_value() ? weights.at(c) * invstd : invstd;
    shift[c] = (bias.has_value() ? biases.at(c) : 0.0f) - means.at(c) * scale[c];
  }
  const int64_t plane = input.numel() / (input.size(0) * channels);
  if (is_contiguous(input) && plane > 1) {
    int64_t done = 0;
    return compute_dim(ctx, {input.size(0) * channels, plane, 1}, input, out, plane,
                       [&](const InnerLoops& part, const float* in, float* result) {
                         scale_channels(done, part.outer, channels, plane, scale, shift, in,
                                        result);
                         done += part.outer;
                       });
  }
  return compute_dim(ctx, {input.numel() / channels, channels, 1}, input, out, channels,
                     [&](const InnerLoops& part, const float* in, float* result) {
                       scale_channels_last(part.outer, channels, scale, shift, in, result);
                     });
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_batch_norm_legit_no_training_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, const Tensor& running_mean, const Tensor& running_var,
    double momentum, double eps, Tensor& out, Tensor& mean_out, Tensor& invstd_out) {
  if (normalize_channels(ctx, input, weight, bias, running_mean, running_var, eps, out, mean_out,
                         invstd_out)) {
    return {out, mean_out, invstd_out};
  }
  return _native_batch_norm_legit_no_training_out(ctx, input, weight, bias, running_mean,
                                                  running_var, momentum, eps, out, mean_out,
                                                  invstd_out);
}

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_batch_norm_legit_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, Tensor& running_mean, Tensor& running_var, bool training,
    double momentum, double eps, Tensor& out, Tensor& mean_out, Tensor& invstd_out) {
  if (!training && normalize_channels(ctx, input, weight, bias, running_mean, running_var, eps, out,
                                      mean_out, invstd_out)) {
    return {out, mean_out, invstd_out};
  }
  return _native_batch_norm_legit_out(ctx, input, weight, bias, running_mean, running_var, training,
                                      momentum, eps, out, mean_out, invstd_out);
}

}  // namespace torch::executor::native
