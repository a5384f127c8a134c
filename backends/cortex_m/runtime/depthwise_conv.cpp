// SPDX-License-Identifier: BSD-3-Clause
// Convolutions in which each channel of the result reads one channel of the image.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/conv.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;

namespace {

constexpr int32_t kBlock = 16;  // channels whose sums are kept at a time

struct Depthwise : Geometry {
  int32_t multiplier;  // results per channel of the image

  Depthwise(const ConvArguments& arguments, const Tensor& out, int64_t multiplier)
      : Geometry(arguments, out), multiplier(static_cast<int32_t>(multiplier)) {}

  // The sums of one pixel for the channels [first, first + count).
  void add(int32_t row, int32_t column, int32_t first, int32_t count, int32_t offset,
           int32_t* totals) const {
    const Taps rows(row, kernel.height, dilation.height, in.height);
    const Taps columns(column, kernel.width, dilation.width, in.width);
    for (int32_t i = rows.begin; i < rows.end; ++i) {
      for (int32_t j = columns.begin; j < columns.end; ++j) {
        const int8_t* pixel =
            x + in.pixel(0, row + i * dilation.height, column + j * dilation.width);
        const int8_t* w = weights + (i * kernel.width + j) * to.channels + first;
        if (multiplier == 1) {
          for (int32_t k = 0; k < count; ++k) {
            totals[k] += (pixel[first + k] + offset) * w[k];
          }
          continue;
        }
        for (int32_t k = 0; k < count; ++k) {
          totals[k] += (pixel[(first + k) / multiplier] + offset) * w[k];
        }
      }
    }
  }

  void write(const Sums& sums, int8_t* out) const {
    int32_t totals[kBlock];
    for (int32_t y = 0; y < to.height; ++y) {
      for (int32_t x_out = 0; x_out < to.width; ++x_out) {
        for (int32_t first = 0; first < to.channels; first += kBlock) {
          const int32_t count = std::min(kBlock, to.channels - first);
          for (int32_t k = 0; k < count; ++k) {
            totals[k] = sums.start(first + k);
          }
          add(y * stride.height - padding.height, x_out * stride.width - padding.width, first,
              count, sums.input_offset, totals);
          for (int32_t k = 0; k < count; ++k) {
            *out++ = sums.finish(totals[k], first + k);
          }
        }
      }
    }
  }
};

}  // namespace

Tensor& quantized_depthwise_conv2d_out(KernelRuntimeContext& context, const Tensor& input,
                                       const Tensor& weight, const std::optional<Tensor>& bias,
                                       Numbers stride, Numbers padding, Numbers dilation,
                                       int64_t depth_multiplier, int64_t input_offset,
                                       int64_t output_offset, const Tensor& requantize_multipliers,
                                       const Tensor& requantize_shifts, int64_t activation_min,
                                       int64_t activation_max, const Tensor& scratch, Tensor& out) {
  (void)scratch;  // our kernels need none
  const ConvArguments arguments{"quantized_depthwise_conv2d",
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
  const int64_t channels = weight.dim() == 4 ? weight.size(3) : 0;
  const auto sums = check_conv(context, arguments, channels, out);
  if (!sums.has_value()) {
    return out;
  }
  CORTEX_M_CHECK(input.size(0) == 1 && weight.size(0) == 1 && depth_multiplier > 0 &&
                     channels == input.size(1) * depth_multiplier,
                 "quantized_depthwise_conv2d: expected one image, weights of [1, H, W, O] and "
                 "depth_multiplier results per channel");
  if (!resize_image(context, arguments.name, input, channels, conv_size(arguments, 0),
                    conv_size(arguments, 1), out)) {
    return out;
  }
  Depthwise(arguments, out, depth_multiplier).write(*sums, out.mutable_data_ptr<int8_t>());
  return out;
}

}  // namespace cortex_m::native
