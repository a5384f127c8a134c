// SPDX-License-Identifier: BSD-3-Clause
// Sums, means, softmax and normalization of f32 tensors.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/rows/rows.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::cumulate_lines;
using executorch::kernels::optimized::extreme_lines;
using executorch::kernels::optimized::group_norm;
using executorch::kernels::optimized::GroupNorm;
using executorch::kernels::optimized::is_channels_last;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::layer_norm;
using executorch::kernels::optimized::LayerNorm;
using executorch::kernels::optimized::Lines;
using executorch::kernels::optimized::multiply_lines;
using executorch::kernels::optimized::same_layout;
using executorch::kernels::optimized::scale_channels;
using executorch::kernels::optimized::scale_pixels;
using executorch::kernels::optimized::softmax_lines;
using executorch::kernels::optimized::sum_lines;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::resize_tensor;

namespace {

// The contiguous dimensions [first, last) of t as the middle of [outer][n][inner].
Lines lines_of(const Tensor& t, int64_t first, int64_t last) {
  Lines lines{1, 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    int64_t& part = d < first ? lines.outer : d < last ? lines.n : lines.inner;
    part *= t.size(d);
  }
  return lines;
}

// Dimensions [first, last) when the list names exactly a range of neighbours (all, when there is
// none).
bool neighbour_range(const Tensor& t, const std::optional<IntArrayRef>& dims, int64_t& first,
                     int64_t& last) {
  const int64_t rank = t.dim();
  if (!dims.has_value() || dims->empty()) {
    first = 0;
    last = rank;
    return true;
  }
  bool named[kTensorDimensionLimit] = {};
  first = rank;
  last = 0;
  for (int64_t d : *dims) {
    if (d < -rank || d >= rank || named[d < 0 ? d + rank : d]) {
      return false;
    }
    d = d < 0 ? d + rank : d;
    named[d] = true;
    first = std::min(first, d);
    last = std::max(last, d + 1);
  }
  return last - first == static_cast<int64_t>(dims->size());
}

bool resize_reduced(const Tensor& self, int64_t first, int64_t last, bool keepdim, Tensor& out) {
  SizesType sizes[kTensorDimensionLimit];
  size_t count = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool reduced = d >= first && d < last;
    if (!reduced || keepdim) {
      sizes[count++] = reduced ? 1 : static_cast<SizesType>(self.size(d));
    }
  }
  return resize_tensor(out, {sizes, count}) == Error::Ok;
}

// The mean (or the sum) over neighbouring dimensions; false when this is not one of those.
bool reduce(const Tensor& self, const std::optional<IntArrayRef>& dims, bool keepdim,
            const std::optional<ScalarType>& dtype, bool mean, Tensor& out) {
  int64_t first = 0, last = 0;
  if (dtype.value_or(ScalarType::Float) != ScalarType::Float || !is_dense_f32(self) ||
      !is_f32(out) || self.numel() == 0 || !neighbour_range(self, dims, first, last) ||
      !resize_reduced(self, first, last, keepdim, out) || !is_contiguous(out)) {
    return false;
  }
  const Lines lines = lines_of(self, first, last);
  const float scale = mean ? 1.0f / static_cast<float>(lines.n) : 1.0f;
  sum_lines(lines, scale, self.const_data_ptr<float>(), out.mutable_data_ptr<float>());
  return true;
}

bool extreme(const Tensor& self, IntArrayRef dims, bool keepdim, bool largest, Tensor& out) {
  int64_t first = 0, last = 0;
  if (!is_dense_f32(self) || !is_f32(out) || self.numel() == 0 ||
      !neighbour_range(self, dims, first, last) ||
      !resize_reduced(self, first, last, keepdim, out) || !is_contiguous(out)) {
    return false;
  }
  extreme_lines(lines_of(self, first, last), largest, self.const_data_ptr<float>(),
                out.mutable_data_ptr<float>());
  return true;
}

// The product over dimensions [first, last).
bool product(const Tensor& self, int64_t first, int64_t last, bool keepdim,
             const std::optional<ScalarType>& dtype, Tensor& out) {
  if (dtype.value_or(ScalarType::Float) != ScalarType::Float || !is_dense_f32(self) ||
      !is_f32(out) || self.numel() == 0 || !resize_reduced(self, first, last, keepdim, out) ||
      !is_contiguous(out)) {
    return false;
  }
  multiply_lines(lines_of(self, first, last), self.const_data_ptr<float>(),
                 out.mutable_data_ptr<float>());
  return true;
}

bool softmax(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm, Tensor& out) {
  const int64_t rank = self.dim();
  if (half_to_float || rank == 0 || dim < -rank || dim >= rank || !is_dense_f32(self) ||
      !is_f32(out) || resize_tensor(out, self.sizes()) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  dim = dim < 0 ? dim + rank : dim;
  softmax_lines(lines_of(self, dim, dim + 1), logarithm, self.const_data_ptr<float>(),
                out.mutable_data_ptr<float>());
  return true;
}

// A parameter that is missing, or dense f32 of n values.
bool fits(const std::optional<Tensor>& t, int64_t n) {
  return !t.has_value() || (is_dense_f32(*t) && t->numel() == n);
}

const float* data_or_null(const std::optional<Tensor>& t) {
  return t.has_value() ? t->const_data_ptr<float>() : nullptr;
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

}  // namespace

Tensor& opt_sum_dim_out(KernelRuntimeContext& ctx, const Tensor& self,
                        std::optional<IntArrayRef> dim, bool keepdim,
                        std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(self, dim, keepdim, dtype, /*mean=*/false, out)
             ? out
             : sum_dim_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_mean_dim_out(KernelRuntimeContext& ctx, const Tensor& self,
                         std::optional<IntArrayRef> dim, bool keepdim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(self, dim, keepdim, dtype, /*mean=*/true, out)
             ? out
             : mean_dim_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_mean_dtype_out(KernelRuntimeContext& ctx, const Tensor& self,
                           std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(self, std::nullopt, /*keepdim=*/false, dtype, /*mean=*/true, out)
             ? out
             : mean_dtype_out(ctx, self, dtype, out);
}

Tensor& opt_amax_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                     Tensor& out) {
  return extreme(self, dim, keepdim, /*largest=*/true, out)
             ? out
             : amax_out(ctx, self, dim, keepdim, out);
}

Tensor& opt_amin_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                     Tensor& out) {
  return extreme(self, dim, keepdim, /*largest=*/false, out)
             ? out
             : amin_out(ctx, self, dim, keepdim, out);
}

Tensor& opt_max_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme(self, {}, /*keepdim=*/false, /*largest=*/true, out)
             ? out
             : max_unary_out(ctx, self, out);
}

Tensor& opt_min_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme(self, {}, /*keepdim=*/false, /*largest=*/false, out)
             ? out
             : min_unary_out(ctx, self, out);
}

Tensor& opt_prod_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  const int64_t at = dim < 0 ? dim + self.dim() : dim;
  const bool fast = at >= 0 && at < self.dim() && product(self, at, at + 1, keepdim, dtype, out);
  return fast ? out : prod_int_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_prod_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<ScalarType> dtype,
                     Tensor& out) {
  return product(self, 0, self.dim(), /*keepdim=*/false, dtype, out)
             ? out
             : prod_out(ctx, self, dtype, out);
}

Tensor& opt_cumsum_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                       std::optional<ScalarType> dtype, Tensor& out) {
  const int64_t rank = self.dim();
  if (rank == 0 || dim < -rank || dim >= rank || !is_dense_f32(self) || !is_f32(out) ||
      dtype.value_or(ScalarType::Float) != ScalarType::Float ||
      resize_tensor(out, self.sizes()) != Error::Ok || !is_contiguous(out)) {
    return cumsum_out(ctx, self, dim, dtype, out);
  }
  dim = dim < 0 ? dim + rank : dim;
  cumulate_lines(lines_of(self, dim, dim + 1), self.const_data_ptr<float>(),
                 out.mutable_data_ptr<float>());
  return out;
}

Tensor& opt_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        bool half_to_float, Tensor& out) {
  return softmax(self, dim, half_to_float, /*logarithm=*/false, out)
             ? out
             : softmax_out(ctx, self, dim, half_to_float, out);
}

Tensor& opt_log_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                            bool half_to_float, Tensor& out) {
  return softmax(self, dim, half_to_float, /*logarithm=*/true, out)
             ? out
             : log_softmax_out(ctx, self, dim, half_to_float, out);
}

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_layer_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double eps, Tensor& out,
    Tensor& mean_out, Tensor& rstd_out) {
  int64_t n = 0;
  const bool fast =
      is_dense_f32(input) && is_f32(out) && is_f32(mean_out) && is_f32(rstd_out) &&
      normalizes_tail(input, normalized_shape, n) && fits(weight, n) && fits(bias, n) &&
      resize_tensor(out, input.sizes()) == Error::Ok && is_contiguous(out) &&
      resize_statistics(input, static_cast<int64_t>(normalized_shape.size()), mean_out, rstd_out);
  if (!fast) {
    return native_layer_norm_out(ctx, input, normalized_shape, weight, bias, eps, out, mean_out,
                                 rstd_out);
  }
  LayerNorm p;
  p.rows = input.numel() / n;
  p.n = n;
  p.eps = static_cast<float>(eps);
  p.in = input.const_data_ptr<float>();
  p.weight = data_or_null(weight);
  p.bias = data_or_null(bias);
  p.out = out.mutable_data_ptr<float>();
  p.mean = mean_out.mutable_data_ptr<float>();
  p.rstd = rstd_out.mutable_data_ptr<float>();
  layer_norm(p);
  return {out, mean_out, rstd_out};
}

std::tuple<Tensor&, Tensor&, Tensor&> opt_native_group_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
    Tensor& out, Tensor& mean_out, Tensor& rstd_out) {
  const SizesType statistics[2] = {static_cast<SizesType>(N), static_cast<SizesType>(group)};
  const bool fast = is_dense_f32(input) && is_f32(out) && is_f32(mean_out) && is_f32(rstd_out) &&
                    input.dim() >= 2 && input.numel() > 0 && input.size(0) == N &&
                    input.size(1) == C && input.numel() / (N * C) == HxW && group > 0 &&
                    C % group == 0 && fits(weight, C) && fits(bias, C) &&
                    resize_tensor(out, input.sizes()) == Error::Ok && is_contiguous(out) &&
                    resize_tensor(mean_out, {statistics, 2}) == Error::Ok &&
                    resize_tensor(rstd_out, {statistics, 2}) == Error::Ok;
  if (!fast) {
    return native_group_norm_out(ctx, input, weight, bias, N, C, HxW, group, eps, out, mean_out,
                                 rstd_out);
  }
  group_norm({N, C, HxW, group, static_cast<float>(eps), input.const_data_ptr<float>(),
              data_or_null(weight), data_or_null(bias), out.mutable_data_ptr<float>(),
              mean_out.mutable_data_ptr<float>(), rstd_out.mutable_data_ptr<float>()});
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
  const SizesType none[1] = {0};
  const bool fast = channels > 0 && input.numel() > 0 && is_f32(input) && is_f32(out) &&
                    (is_contiguous(input) || is_channels_last(input)) &&
                    is_dense_f32(running_mean) && is_dense_f32(running_var) &&
                    running_mean.numel() == channels && running_var.numel() == channels &&
                    fits(weight, channels) && fits(bias, channels) &&
                    resize_tensor(out, input.sizes()) == Error::Ok && same_layout(input, out) &&
                    resize_tensor(mean_out, {none, 1}) == Error::Ok &&
                    resize_tensor(invstd_out, {none, 1}) == Error::Ok;
  if (!fast) {
    return false;
  }
  auto memory = ctx.allocate_temp(static_cast<size_t>(2 * channels) * sizeof(float), 64);
  if (!memory.ok()) {
    return false;
  }
  auto* scale = static_cast<float*>(memory.get());
  float* shift = scale + channels;
  const float* mean = running_mean.const_data_ptr<float>();
  const float* variance = running_var.const_data_ptr<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const float invstd = 1.0f / std::sqrt(variance[c] + static_cast<float>(eps));
    scale[c] = weight.has_value() ? weight->const_data_ptr<float>()[c] * invstd : invstd;
    shift[c] = (bias.has_value() ? bias->const_data_ptr<float>()[c] : 0.0f) - mean[c] * scale[c];
  }
  const float* in = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const int64_t plane = input.numel() / (input.size(0) * channels);
  if (is_contiguous(input) && plane > 1) {
    scale_channels(input.size(0), channels, plane, scale, shift, in, to);
  } else {
    scale_pixels(input.numel() / channels, channels, scale, shift, in, to);
  }
  return true;
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
