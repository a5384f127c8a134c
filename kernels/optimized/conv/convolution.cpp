// SPDX-License-Identifier: BSD-3-Clause
// convolution.out: f32, 1-D and 2-D, NCHW and NHWC, any groups; transposed NCHW. The rest is the
// portable kernel's.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <algorithm>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::OptionalArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

using executorch::aten::SizesType;
using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::conv_bias_gradient;
using executorch::kernels::optimized::conv_input_gradient;
using executorch::kernels::optimized::conv_weight_gradient;
using executorch::kernels::optimized::depthwise_conv;
using executorch::kernels::optimized::gemm_conv;
using executorch::kernels::optimized::is_channels_last;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::transposed_conv;
using executorch::runtime::Error;

namespace {

// The value for the height (axis 0) or width (axis 1) of a list of one value for all, or one for
// each spatial dimension.
int64_t value_at(IntArrayRef list, int64_t spatial_dims, int64_t axis, int64_t missing) {
  const int64_t index = axis - (2 - spatial_dims);
  if (index < 0) {
    return missing;
  }
  return list[list.size() == 1 ? 0 : static_cast<size_t>(index)];
}

bool has_length(IntArrayRef list, int64_t spatial_dims) {
  return list.size() == 1 || list.size() == static_cast<size_t>(spatial_dims);
}

bool layouts_match(const Tensor& input, const Tensor& out) {
  const bool contiguous = is_contiguous(input) && is_contiguous(out);
  return contiguous || (is_channels_last(input) && is_channels_last(out));
}

bool dtypes_fit(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                int64_t out_channels, const Tensor& out) {
  if (!is_f32(input) || !is_f32(weight) || !is_f32(out)) {
    return false;
  }
  return !bias.has_value() || (is_f32(*bias) && bias->dim() == 1 && bias->size(0) == out_channels);
}

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

bool is_small(int64_t value) {
  return value >= 0 && value < (int64_t{1} << 30);
}

// Fills in the geometry; false when it is none that the fast path takes (wrong, empty, or huge
// values).
bool set_geometry(const Tensor& input, const Tensor& weight, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool transposed, int64_t groups,
                  Conv& c) {
  const int64_t spatial = input.dim() - 2;
  if (spatial < 1 || spatial > 2 || weight.dim() != input.dim() || groups < 1 ||
      !has_length(stride, spatial) || !has_length(padding, spatial) ||
      !has_length(dilation, spatial)) {
    return false;
  }
  c.groups = groups;
  c.batch = input.size(0);
  c.in_channels = input.size(1);
  c.out_channels = transposed ? weight.size(1) * groups : weight.size(0);
  c.in_h = spatial == 2 ? input.size(2) : 1;
  c.in_w = input.size(input.dim() - 1);
  c.kernel_h = spatial == 2 ? weight.size(2) : 1;
  c.kernel_w = weight.size(weight.dim() - 1);
  c.stride_h = value_at(stride, spatial, 0, 1);
  c.stride_w = value_at(stride, spatial, 1, 1);
  c.pad_h = value_at(padding, spatial, 0, 0);
  c.pad_w = value_at(padding, spatial, 1, 0);
  c.dilation_h = value_at(dilation, spatial, 0, 1);
  c.dilation_w = value_at(dilation, spatial, 1, 1);
  const bool in_range = is_small(c.stride_h) && is_small(c.stride_w) && is_small(c.pad_h) &&
                        is_small(c.pad_w) && is_small(c.dilation_h) && is_small(c.dilation_w);
  if (!in_range || c.stride_h < 1 || c.stride_w < 1 || c.dilation_h < 1 || c.dilation_w < 1 ||
      weight.numel() == 0 || input.numel() == 0 || c.out_channels % groups != 0 ||
      c.in_channels != (transposed ? weight.size(0) : weight.size(1) * groups) ||
      c.in_channels % groups != 0) {
    return false;
  }
  return true;
}

// Output sizes of a convolution; false when the window does not fit.
bool set_output(Conv& c) {
  const int64_t reach_h = c.dilation_h * (c.kernel_h - 1) + 1;
  const int64_t reach_w = c.dilation_w * (c.kernel_w - 1) + 1;
  if (c.in_h + 2 * c.pad_h < reach_h || c.in_w + 2 * c.pad_w < reach_w) {
    return false;
  }
  c.out_h = output_size(c.in_h, c.kernel_h, c.stride_h, c.pad_h, c.dilation_h);
  c.out_w = output_size(c.in_w, c.kernel_w, c.stride_w, c.pad_w, c.dilation_w);
  return is_small(c.out_h) && is_small(c.out_w);
}

// The same for a transposed one.
bool set_transposed_output(int64_t spatial, IntArrayRef output_padding, Conv& c) {
  if (!has_length(output_padding, spatial)) {
    return false;
  }
  const int64_t more_h = value_at(output_padding, spatial, 0, 0);
  const int64_t more_w = value_at(output_padding, spatial, 1, 0);
  if (more_h < 0 || more_w < 0 || more_h >= std::max(c.stride_h, c.dilation_h) ||
      more_w >= std::max(c.stride_w, c.dilation_w)) {
    return false;
  }
  c.out_h = (c.in_h - 1) * c.stride_h - 2 * c.pad_h + c.dilation_h * (c.kernel_h - 1) + more_h + 1;
  c.out_w = (c.in_w - 1) * c.stride_w - 2 * c.pad_w + c.dilation_w * (c.kernel_w - 1) + more_w + 1;
  return c.out_h > 0 && c.out_w > 0 && is_small(c.out_h) && is_small(c.out_w);
}

bool resize_output(const Conv& c, int64_t dims, Tensor& out) {
  const SizesType sizes[4] = {
      static_cast<SizesType>(c.batch), static_cast<SizesType>(c.out_channels),
      static_cast<SizesType>(dims == 4 ? c.out_h : c.out_w), static_cast<SizesType>(c.out_w)};
  return executorch::runtime::resize_tensor(out, {sizes, static_cast<size_t>(dims)}) == Error::Ok;
}

Error convolve(KernelRuntimeContext& ctx, const Conv& c, bool transposed) {
  if (transposed) {
    return transposed_conv(ctx, c);
  }
  const bool depthwise = c.groups > 1 && c.groups == c.in_channels && c.groups == c.out_channels;
  return depthwise ? depthwise_conv(ctx, c) : gemm_conv(ctx, c);
}

}  // namespace

Tensor& opt_convolution_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                            const std::optional<Tensor>& bias, IntArrayRef stride,
                            IntArrayRef padding, IntArrayRef dilation, bool transposed,
                            IntArrayRef output_padding, int64_t groups, Tensor& out) {
  Conv c = {};
  const bool layout =
      transposed ? is_contiguous(input) && is_contiguous(weight) && is_contiguous(out)
                 : (is_contiguous(weight) || is_channels_last(weight)) && layouts_match(input, out);
  const bool fast =
      layout && set_geometry(input, weight, stride, padding, dilation, transposed, groups, c) &&
      dtypes_fit(input, weight, bias, c.out_channels, out) &&
      (transposed ? set_transposed_output(input.dim() - 2, output_padding, c) : set_output(c)) &&
      resize_output(c, input.dim(), out);
  if (fast) {
    c.channels_last = !is_contiguous(input);
    c.input = input.const_data_ptr<float>();
    c.weight_channels_last = !is_contiguous(weight) && weight.size(1) > 1;
    c.weight = weight.const_data_ptr<float>();
    c.bias = bias.has_value() ? bias->const_data_ptr<float>() : nullptr;
    c.output = out.mutable_data_ptr<float>();
    if (convolve(ctx, c, transposed) == Error::Ok) {
      return out;
    }
  }
  return convolution_out(ctx, input, weight, bias, stride, padding, dilation, transposed,
                         output_padding, groups, out);
}

namespace {

bool has_shape(const Tensor& t, int64_t dims, const Conv& c, int64_t channels, int64_t h,
               int64_t w) {
  return t.dim() == dims && t.size(0) == c.batch && t.size(1) == channels &&
         (dims == 3 ? h == 1 : t.size(2) == h) && t.size(dims - 1) == w;
}

// A gradient that is wanted is f32, dense, and takes the shape; one that is not is left alone.
template <typename Sizes>
bool fits_gradient(bool wanted, const Sizes& sizes, Tensor& out) {
  return !wanted || (is_f32(out) && executorch::runtime::resize_tensor(out, sizes) == Error::Ok &&
                     is_contiguous(out));
}

bool dense_f32(const Tensor& t) {
  return is_f32(t) && is_contiguous(t);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> opt_convolution_backward_out(
    KernelRuntimeContext& ctx, const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalArrayRef<int64_t> bias_sizes, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups,
    ArrayRef<bool> mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  Conv c = {};
  const bool known =
      !transposed && mask.size() == 3 && dense_f32(grad_output) && dense_f32(input) &&
      dense_f32(weight) &&
      set_geometry(input, weight, stride, padding, dilation, /*transposed=*/false, groups, c) &&
      set_output(c) && has_shape(grad_output, input.dim(), c, c.out_channels, c.out_h, c.out_w);
  const SizesType channels[1] = {static_cast<SizesType>(c.out_channels)};
  if (known && fits_gradient(mask[0], input.sizes(), out0) &&
      fits_gradient(mask[1], weight.sizes(), out1) &&
      fits_gradient(mask[2], ArrayRef<SizesType>(channels, 1), out2)) {
    c.input = input.const_data_ptr<float>();
    c.weight = weight.const_data_ptr<float>();
    const float* grad = grad_output.const_data_ptr<float>();
    Error error = Error::Ok;
    if (mask[0]) {
      error = conv_input_gradient(ctx, c, grad, out0.mutable_data_ptr<float>());
    }
    if (mask[1] && error == Error::Ok) {
      error = conv_weight_gradient(ctx, c, grad, out1.mutable_data_ptr<float>());
    }
    if (mask[2] && error == Error::Ok) {
      error = conv_bias_gradient(ctx, c, grad, out2.mutable_data_ptr<float>());
    }
    if (error == Error::Ok) {
      return {out0, out1, out2};
    }
  }
  return convolution_backward_out(ctx, grad_output, input, weight, bias_sizes, stride, padding,
                                  dilation, transposed, output_padding, groups, mask, out0, out1,
                                  out2);
}

}  // namespace torch::executor::native
