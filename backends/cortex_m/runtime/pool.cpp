// SPDX-License-Identifier: BSD-3-Clause
// Means and largest values of windows; what is padded is left out of both.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/conv.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;

namespace {

// The mean, halves away from zero.
struct Mean {
  int32_t sum = 0, count = 0;

  void take(int8_t value) {
    sum += value;
    ++count;
  }
  int32_t result() const {
    const int32_t half = count / 2;
    return (sum + (sum > 0 ? half : -half)) / count;
  }
};

struct Largest {
  int32_t value = -128;

  void take(int8_t next) { value = std::max<int32_t>(value, next); }
  int32_t result() const { return value; }
};

struct Windows {
  Numbers kernel, stride, padding;
};

template <typename Pool>
int8_t of_window(const Image& in, const int8_t* x, int32_t image, int32_t row, int32_t column,
                 int32_t channel, const Taps& rows, const Taps& columns, const Limits& limits) {
  Pool pool;
  for (int32_t i = rows.begin; i < rows.end; ++i) {
    for (int32_t j = columns.begin; j < columns.end; ++j) {
      pool.take(x[in.pixel(image, row + i, column + j) + channel]);
    }
  }
  return limits(pool.result());
}

// Checks what both pools ask for, and gives `out` its size.
bool check_pool(KernelRuntimeContext& context, const char* name, const Tensor& input,
                const Windows& windows, Tensor& out) {
  ET_KERNEL_CHECK_MSG(context, is_image(input) && is_image(out), InvalidArgument, false,
                      "%s: expected images of int8, channels last in memory", name);
  ET_KERNEL_CHECK_MSG(
      context,
      is_pair(windows.kernel, 1) && is_pair(windows.stride, 1) && is_pair(windows.padding, 0),
      InvalidArgument, false, "%s: expected two numbers each for kernel, stride and padding", name);
  int64_t sizes[2];
  for (size_t i = 0; i < 2; ++i) {
    ET_KERNEL_CHECK_MSG(context, windows.padding[i] < windows.kernel[i], InvalidArgument, false,
                        "%s: expected a value of the image in every window", name);
    sizes[i] = conv_size(input.size(static_cast<ssize_t>(i) + 2), windows.kernel[i],
                         windows.stride[i], windows.padding[i], 1);
  }
  return resize_image(context, name, input, input.size(1), sizes[0], sizes[1], out);
}

template <typename Pool>
void write(const Tensor& input, const Windows& windows, const Limits& limits, Tensor& out) {
  const Image in(input), to(out);
  const Pair kernel(windows.kernel), stride(windows.stride), padding(windows.padding);
  const int8_t* x = input.const_data_ptr<int8_t>();
  int8_t* result = out.mutable_data_ptr<int8_t>();
  for (int32_t image = 0; image < in.batch; ++image) {
    for (int32_t y = 0; y < to.height; ++y) {
      const int32_t row = y * stride.height - padding.height;
      const Taps rows(row, kernel.height, 1, in.height);
      for (int32_t x_out = 0; x_out < to.width; ++x_out) {
        const int32_t column = x_out * stride.width - padding.width;
        const Taps columns(column, kernel.width, 1, in.width);
        for (int32_t channel = 0; channel < in.channels; ++channel) {
          *result++ = of_window<Pool>(in, x, image, row, column, channel, rows, columns, limits);
        }
      }
    }
  }
}

}  // namespace

// A mean has the scale and the zero point of its values, so that the last three numbers say nothing
// new.
Tensor& quantized_avg_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 Numbers kernel_size, Numbers stride, Numbers padding,
                                 int64_t zero_point, int64_t multiplier, int64_t shift,
                                 const Tensor& scratch, Tensor& out) {
  (void)zero_point;  // a mean has the parameters of its values
  (void)multiplier;  // so it has
  (void)shift;       // and this
  (void)scratch;     // our kernels need none
  const Windows windows{kernel_size, stride, padding};
  if (check_pool(context, "quantized_avg_pool2d", input, windows, out)) {
    write<Mean>(input, windows, Limits{}, out);
  }
  return out;
}

Tensor& quantized_max_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 Numbers kernel_size, Numbers stride, Numbers padding,
                                 Numbers dilation, bool ceil_mode, int64_t input_zero_point,
                                 int64_t output_zero_point, int64_t activation_min,
                                 int64_t activation_max, Tensor& out) {
  const bool is_plain = is_pair(dilation, 1) && dilation[0] == 1 && dilation[1] == 1 && !ceil_mode;
  CORTEX_M_CHECK(is_plain && input_zero_point == output_zero_point &&
                     are_limits(activation_min, activation_max),
                 "quantized_max_pool2d: expected no dilation, no ceil_mode, one zero point and "
                 "limits of int8");
  const Windows windows{kernel_size, stride, padding};
  if (check_pool(context, "quantized_max_pool2d", input, windows, out)) {
    const Limits limits{static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max)};
    write<Largest>(input, windows, limits, out);
  }
  return out;
}

}  // namespace cortex_m::native
