// SPDX-License-Identifier: BSD-3-Clause
// Transposed convolutions: each result gathers what would be scattered to it, so that no sums are
// kept in between.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/conv.h>
#include <executorch/backends/cortex_m/runtime/dot.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;

namespace {

struct TransposeConv : Geometry {
  using Geometry::Geometry;

  // The place along one dimension whose values weight `tap` brings to `result`, or -1.
  static int32_t source(int32_t result, int32_t tap, int32_t stride, int32_t padding,
                        int32_t dilation, int32_t size) {
    const int32_t scattered = result + padding - tap * dilation;
    return scattered >= 0 && scattered % stride == 0 && scattered / stride < size
               ? scattered / stride
               : -1;
  }

  int32_t sum(int32_t image, int32_t y, int32_t x_out, const int8_t* w, int32_t offset) const {
    int32_t total = 0;
    for (int32_t i = 0; i < kernel.height; ++i) {
      const int32_t row = source(y, i, stride.height, padding.height, dilation.height, in.height);
      for (int32_t j = 0; row >= 0 && j < kernel.width; ++j) {
        const int32_t column =
            source(x_out, j, stride.width, padding.width, dilation.width, in.width);
        if (column >= 0) {
          total += dot(x + in.pixel(image, row, column), w + (i * kernel.width + j) * in.channels,
                       static_cast<size_t>(in.channels), offset);
        }
      }
    }
    return total;
  }

  void write(const Sums& sums, int8_t* out) const {
    const int32_t taps = kernel.height * kernel.width * in.channels;
    for (int32_t image = 0; image < in.batch; ++image) {
      for (int32_t y = 0; y < to.height; ++y) {
        for (int32_t x_out = 0; x_out < to.width; ++x_out) {
          for (int32_t channel = 0; channel < to.channels; ++channel) {
            const int32_t total = sum(image, y, x_out, weights + channel * taps, sums.input_offset);
            *out++ = sums.finish(total + sums.start(channel), channel);
          }
        }
      }
    }
  }
};

int64_t transposed_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                        int64_t dilation, int64_t output_padding) {
  return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1;
}

}  // namespace

Tensor& quantized_transpose_conv2d_out(KernelRuntimeContext& context, const Tensor& input,
                                       const Tensor& weight, const std::optional<Tensor>& bias,
                                       Numbers stride, Numbers padding, Numbers output_padding,
                                       Numbers dilation, int64_t input_offset,
                                       int64_t output_offset, const Tensor& requantize_multipliers,
                                       const Tensor& requantize_shifts, int64_t activation_min,
                                       int64_t activation_max, const Tensor& scratch,
                                       const Tensor& output_scratch, Tensor& out) {
  (void)scratch;         // our kernels need none
  (void)output_scratch;  // nor here
  const ConvArguments arguments{"quantized_transpose_conv2d",
                                input,
                                weight,
                                bias,
                                stride,
                                padding,
                                dilation,
                                input_offset,
                                output_offset,
                                requantize_multipliers,
                                requantize_shifts,
                                activation_min,
                                activation_max};
  const int64_t channels = weight.dim() == 4 ? weight.size(0) : 0;
  const auto sums = check_conv(context, arguments, channels, out);
  if (!sums.has_value()) {
    return out;
  }
  CORTEX_M_CHECK(weight.size(3) == input.size(1) && is_pair(output_padding, 0),
                 "quantized_transpose_conv2d: expected weights of [O, H, W, C] and two numbers for "
                 "output_padding");
  const int64_t height = transposed_size(input.size(2), weight.size(1), stride[0], padding[0],
                                         dilation[0], output_padding[0]);
  const int64_t width = transposed_size(input.size(3), weight.size(2), stride[1], padding[1],
                                        dilation[1], output_padding[1]);
  if (!resize_image(context, arguments.name, input, channels, height, width, out)) {
    return out;
  }
  TransposeConv(arguments, out).write(*sums, out.mutable_data_ptr<int8_t>());
  return out;
}

}  // namespace cortex_m::native
