// SPDX-License-Identifier: BSD-3-Clause
// Convolutions, with groups and dilation, and the checks of all kinds.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/conv.h>
#include <executorch/backends/cortex_m/runtime/dot.h>

namespace executorch::backends::cortex_m {

namespace {

bool is_int32_of(const Tensor& tensor, int64_t count) {
  return tensor.scalar_type() == ScalarType::Int && tensor.numel() == count;
}

bool are_shifts(const int32_t* shifts, int64_t count) {
  return std::all_of(shifts, shifts + count, [](int32_t shift) { return is_shift(shift); });
}

// What is expected and not found; nullptr where all is as it must be.
const char* wrong_with(const ConvArguments& a, int64_t channels, const Tensor& out) {
  if (!is_image(a.input) || !is_image(out)) {
    return "images of int8, channels last in memory (dim order 0, 2, 3, 1)";
  }
  if (!is_int8(a.weight) || a.weight.dim() != 4 || !is_contiguous(a.weight)) {
    return "contiguous weights of int8 with four dimensions";
  }
  if (a.bias.has_value() && !is_int32_of(*a.bias, channels)) {
    return "a bias of int32 with a value per output channel";
  }
  if (!is_int32_of(a.multipliers, channels) || !is_int32_of(a.shifts, channels) ||
      !are_shifts(a.shifts.const_data_ptr<int32_t>(), channels)) {
    return "a multiplier and a shift from -31 to 31 per output channel, of int32";
  }
  if (!is_pair(a.stride, 1) || !is_pair(a.padding, 0) || !is_pair(a.dilation, 1)) {
    return "two numbers each for stride, padding and dilation";
  }
  if (!are_limits(a.activation_min, a.activation_max) || !is_offset(a.input_offset)) {
    return "an input offset and limits of int8";
  }
  return nullptr;
}

}  // namespace

std::optional<Sums> check_conv(KernelRuntimeContext& context, const ConvArguments& arguments,
                               int64_t channels, const Tensor& out) {
  const char* wrong = wrong_with(arguments, channels, out);
  ET_KERNEL_CHECK_MSG(context, wrong == nullptr, InvalidArgument, std::nullopt, "%s: expected %s",
                      arguments.name, wrong);
  return Sums{arguments.bias.has_value() ? arguments.bias->const_data_ptr<int32_t>() : nullptr,
              arguments.multipliers.const_data_ptr<int32_t>(),
              arguments.shifts.const_data_ptr<int32_t>(),
              static_cast<int32_t>(arguments.input_offset),
              static_cast<int32_t>(arguments.output_offset),
              {static_cast<int32_t>(arguments.activation_min),
               static_cast<int32_t>(arguments.activation_max)}};
}

bool resize_image(KernelRuntimeContext& context, const char* name, const Tensor& input,
                  int64_t channels, int64_t height, int64_t width, Tensor& out) {
  const aten::SizesType sizes[] = {
      static_cast<aten::SizesType>(input.size(0)), static_cast<aten::SizesType>(channels),
      static_cast<aten::SizesType>(height), static_cast<aten::SizesType>(width)};
  ET_KERNEL_CHECK_MSG(
      context,
      height > 0 && width > 0 && runtime::resize_tensor(out, {sizes, 4}) == runtime::Error::Ok,
      InvalidArgument, false, "%s: expected an output of [%d, %d, %d, %d]", name,
      static_cast<int>(sizes[0]), static_cast<int>(sizes[1]), static_cast<int>(sizes[2]),
      static_cast<int>(sizes[3]));
  return true;
}

}  // namespace executorch::backends::cortex_m

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;

namespace {

struct Conv : Geometry {
  int32_t depth;  // channels that one result reads

  Conv(const ConvArguments& arguments, const Tensor& out, int64_t depth)
      : Geometry(arguments, out), depth(static_cast<int32_t>(depth)) {}

  // The sum for one pixel and channel of the result; `at`: the image's first value of the group.
  int32_t sum(const int8_t* at, const int8_t* w, int32_t row, int32_t column, const Taps& rows,
              const Taps& columns, int32_t offset) const {
    int32_t total = 0;
    for (int32_t i = rows.begin; i < rows.end; ++i) {
      const int8_t* line = at + (row + i * dilation.height) * in.width * in.channels;
      const int8_t* own = w + i * kernel.width * depth;
      if (dilation.width == 1 && depth == in.channels) {  // pixels side by side in both
        const int32_t first = columns.begin * depth;
        const auto count = static_cast<size_t>(std::max<int32_t>(columns.end - columns.begin, 0)) *
                           static_cast<size_t>(depth);
        total += dot(line + column * in.channels + first, own + first, count, offset);
        continue;
      }
      for (int32_t j = columns.begin; j < columns.end; ++j) {
        const int8_t* pixel = line + (column + j * dilation.width) * in.channels;
        total += dot(pixel, own + j * depth, static_cast<size_t>(depth), offset);
      }
    }
    return total;
  }

  void write(const Sums& sums, int8_t* out) const {
    const int32_t per_group = to.channels / (in.channels / depth);
    const int32_t taps = kernel.height * kernel.width * depth;
    for (int32_t image = 0; image < in.batch; ++image) {
      for (int32_t y = 0; y < to.height; ++y) {
        const int32_t row = y * stride.height - padding.height;
        const Taps rows(row, kernel.height, dilation.height, in.height);
        for (int32_t x_out = 0; x_out < to.width; ++x_out) {
          const int32_t column = x_out * stride.width - padding.width;
          const Taps columns(column, kernel.width, dilation.width, in.width);
          for (int32_t channel = 0; channel < to.channels; ++channel) {
            const int8_t* at = x + in.pixel(image, 0, 0) + channel / per_group * depth;
            const int32_t total =
                sum(at, weights + channel * taps, row, column, rows, columns, sums.input_offset);
            *out++ = sums.finish(total + sums.start(channel), channel);
          }
        }
      }
    }
  }
};

}  // namespace

Tensor& quantized_conv2d_out(KernelRuntimeContext& context, const Tensor& input,
                             const Tensor& weight, const std::optional<Tensor>& bias,
                             Numbers stride, Numbers padding, Numbers dilation,
                             int64_t input_offset, int64_t output_offset,
                             const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                             int64_t activation_min, int64_t activation_max, const Tensor& scratch,
                             Tensor& out) {
  (void)scratch;  // our kernels need none
  const ConvArguments arguments{"quantized_conv2d",
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
  const int64_t depth = weight.size(3);
  const int64_t groups = depth > 0 ? input.size(1) / depth : 0;
  CORTEX_M_CHECK(groups > 0 && groups * depth == input.size(1) && channels % groups == 0,
                 "quantized_conv2d: expected channels that groups of the weights' depth divide");
  if (!resize_image(context, arguments.name, input, channels, conv_size(arguments, 0),
                    conv_size(arguments, 1), out)) {
    return out;
  }
  Conv(arguments, out, depth).write(*sums, out.mutable_data_ptr<int8_t>());
  return out;
}

}  // namespace cortex_m::native
