// SPDX-License-Identifier: BSD-3-Clause
// convolution.out: f32, bfloat16, and 16-bit floats by way of f32; 1-D to 3-D, NCHW and NHWC, any
// groups; transposed ones NCHW. The rest is the portable kernel's.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::OptionalArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::bfloat16_conv;
using executorch::kernels::optimized::BFloat16Conv;
using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::conv_bias_gradient;
using executorch::kernels::optimized::conv_input_gradient;
using executorch::kernels::optimized::conv_weight_gradient;
using executorch::kernels::optimized::depthwise_nhwc_conv;
using executorch::kernels::optimized::direct_conv;
using executorch::kernels::optimized::has_bfloat16_conv;
using executorch::kernels::optimized::is_channels_last;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_depthwise;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::is_narrow_float;
using executorch::kernels::optimized::is_pointwise;
using executorch::kernels::optimized::narrow;
using executorch::kernels::optimized::pointwise_conv;
using executorch::kernels::optimized::scratch;
using executorch::kernels::optimized::transposed_conv;
using executorch::kernels::optimized::widen;
using executorch::runtime::Error;

namespace {

constexpr int64_t kConvertGrain = 1 << 14;  // values worth a thread

// The value for the depth (axis 0), height (1) or width (2) of a list of one value for all, or one
// for each spatial dimension.
int64_t value_at(IntArrayRef list, int64_t spatial_dims, int64_t axis, int64_t missing) {
  const int64_t index = axis - (3 - spatial_dims);
  if (index < 0) {
    return missing;
  }
  return list[list.size() == 1 ? 0 : static_cast<size_t>(index)];
}

bool has_length(IntArrayRef list, int64_t spatial_dims) {
  return list.size() == 1 || list.size() == static_cast<size_t>(spatial_dims);
}

bool dtypes_fit(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                int64_t out_channels, const Tensor& out) {
  const auto type = input.scalar_type();
  if ((!is_f32(input) && !is_narrow_float(type)) || weight.scalar_type() != type ||
      out.scalar_type() != type) {
    return false;
  }
  return !bias.has_value() ||
         (bias->scalar_type() == type && bias->dim() == 1 && bias->size(0) == out_channels);
}

// The values of a tensor as f32: its own, or a copy of 16-bit ones. nullptr without memory.
const float* f32_values(KernelRuntimeContext& ctx, const Tensor& t) {
  if (is_f32(t)) {
    return t.const_data_ptr<float>();
  }
  float* values = scratch<float>(ctx, t.numel());
  if (values != nullptr) {
    const auto* from = static_cast<const uint16_t*>(t.const_data_ptr());
    parallel_for(0, t.numel(), kConvertGrain, [&](int64_t first, int64_t last) {
      widen(t.scalar_type(), from + first, values + first, last - first);
    });
  }
  return values;
}

bool is_small(int64_t value) {
  return value >= 0 && value < (int64_t{1} << 30);
}

struct Window {
  IntArrayRef stride, padding, dilation, output_padding;
  bool transposed;
};

// One spatial dimension of a Conv.
struct Axis {
  int64_t& in;
  int64_t& out;
  int64_t& kernel;
  int64_t& stride;
  int64_t& pad;
  int64_t& dilation;
};

// Sets an axis; false for what is wrong, empty or huge.
bool set_axis(const Tensor& input, const Tensor& weight, const Window& window, int64_t index,
              const Axis& a) {
  const int64_t spatial = input.dim() - 2;
  const int64_t dim = index - (3 - spatial) + 2;
  a.in = dim < 2 ? 1 : input.size(dim);
  a.kernel = dim < 2 ? 1 : weight.size(dim);
  a.stride = value_at(window.stride, spatial, index, 1);
  a.pad = value_at(window.padding, spatial, index, 0);
  a.dilation = value_at(window.dilation, spatial, index, 1);
  if (!is_small(a.stride) || !is_small(a.pad) || !is_small(a.dilation) || a.stride < 1 ||
      a.dilation < 1) {
    return false;
  }
  const int64_t reach = a.dilation * (a.kernel - 1) + 1;
  if (window.transposed) {
    const int64_t more = value_at(window.output_padding, spatial, index, 0);
    a.out = (a.in - 1) * a.stride - 2 * a.pad + reach + more;
    return more >= 0 && more < std::max(a.stride, a.dilation) && a.out > 0 && is_small(a.out);
  }
  a.out = (a.in + 2 * a.pad - reach) / a.stride + 1;
  return a.in + 2 * a.pad >= reach && is_small(a.out);
}

// Fills in the geometry; false when it is none that the fast path takes.
bool set_geometry(const Tensor& input, const Tensor& weight, const Window& window, int64_t groups,
                  Conv& c) {
  const int64_t spatial = input.dim() - 2;
  if (spatial < 1 || spatial > 3 || weight.dim() != input.dim() || groups < 1 ||
      !has_length(window.stride, spatial) || !has_length(window.padding, spatial) ||
      !has_length(window.dilation, spatial) ||
      (window.transposed && !has_length(window.output_padding, spatial))) {
    return false;
  }
  c.groups = groups;
  c.batch = input.size(0);
  c.in_channels = input.size(1);
  c.out_channels = window.transposed ? weight.size(1) * groups : weight.size(0);
  if (weight.numel() == 0 || input.numel() == 0 || c.out_channels % groups != 0 ||
      c.in_channels != (window.transposed ? weight.size(0) : weight.size(1) * groups) ||
      c.in_channels % groups != 0) {
    return false;
  }
  return set_axis(input, weight, window, 0,
                  {c.in_d, c.out_d, c.kernel_d, c.stride_d, c.pad_d, c.dilation_d}) &&
         set_axis(input, weight, window, 1,
                  {c.in_h, c.out_h, c.kernel_h, c.stride_h, c.pad_h, c.dilation_h}) &&
         set_axis(input, weight, window, 2,
                  {c.in_w, c.out_w, c.kernel_w, c.stride_w, c.pad_w, c.dilation_w});
}

bool resize_output(const Conv& c, int64_t dims, Tensor& out) {
  SizesType sizes[5] = {static_cast<SizesType>(c.batch), static_cast<SizesType>(c.out_channels)};
  const int64_t spatial[3] = {c.out_d, c.out_h, c.out_w};
  for (int64_t i = 2; i < dims; ++i) {
    sizes[i] = static_cast<SizesType>(spatial[i + 3 - dims]);
  }
  return executorch::runtime::resize_tensor(out, {sizes, static_cast<size_t>(dims)}) == Error::Ok;
}

Error convolve(KernelRuntimeContext& ctx, const Conv& c, bool transposed) {
  if (transposed) {
    return transposed_conv(ctx, c);
  }
  if (is_pointwise(c)) {
    return pointwise_conv(ctx, c);
  }
  return c.groups > 1 && is_depthwise(c) ? depthwise_nhwc_conv(ctx, c) : direct_conv(ctx, c);
}

// False when it is not a bfloat16 convolution of the processor's, with nothing written.
bool convolve_bfloat16(KernelRuntimeContext& ctx, const Conv& c, bool transposed, bool has_bias,
                       const Tensor& input, const Tensor& weight, Tensor& out) {
  if (transposed || input.scalar_type() != ScalarType::BFloat16 ||
      (has_bias && c.bias == nullptr) || !has_bfloat16_conv(c)) {
    return false;
  }
  const BFloat16Conv values = {static_cast<const uint16_t*>(input.const_data_ptr()),
                               static_cast<const uint16_t*>(weight.const_data_ptr()),
                               static_cast<uint16_t*>(out.mutable_data_ptr())};
  return bfloat16_conv(ctx, c, values) == Error::Ok;
}

}  // namespace

Tensor& opt_convolution_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                            const std::optional<Tensor>& bias, IntArrayRef stride,
                            IntArrayRef padding, IntArrayRef dilation, bool transposed,
                            IntArrayRef output_padding, int64_t groups, Tensor& out) {
  Conv c = {};
  const Window window = {stride, padding, dilation, output_padding, transposed};
  const bool fast = set_geometry(input, weight, window, groups, c) &&
                    dtypes_fit(input, weight, bias, c.out_channels, out) &&
                    resize_output(c, input.dim(), out);
  const bool in_order = fast && is_contiguous(input) && is_contiguous(out);
  const bool channels_last = fast && is_channels_last(input) && is_channels_last(out);
  const bool weight_in_order = fast && is_contiguous(weight);
  if (transposed ? in_order && weight_in_order
                 : (in_order || channels_last) && (weight_in_order || is_channels_last(weight))) {
    c.channels_last = !in_order;
    c.weight_channels_last = !weight_in_order;
    c.bias = bias.has_value() ? f32_values(ctx, *bias) : nullptr;
    if (convolve_bfloat16(ctx, c, transposed, bias.has_value(), input, weight, out)) {
      return out;
    }
    c.input = f32_values(ctx, input);
    c.weight = f32_values(ctx, weight);
    c.output = is_f32(out) ? out.mutable_data_ptr<float>() : scratch<float>(ctx, out.numel());
    const bool memory = c.input != nullptr && c.weight != nullptr && c.output != nullptr &&
                        (c.bias != nullptr || !bias.has_value());
    if (memory && convolve(ctx, c, transposed) == Error::Ok) {
      if (!is_f32(out)) {
        auto* to = static_cast<uint16_t*>(out.mutable_data_ptr());
        parallel_for(0, out.numel(), kConvertGrain, [&](int64_t first, int64_t last) {
          narrow(out.scalar_type(), c.output + first, to + first, last - first);
        });
      }
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
      dense_f32(weight) && input.dim() < 5 &&
      set_geometry(input, weight, {stride, padding, dilation, {}, false}, groups, c) &&
      has_shape(grad_output, input.dim(), c, c.out_channels, c.out_h, c.out_w);
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
