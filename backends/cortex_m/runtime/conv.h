// SPDX-License-Identifier: BSD-3-Clause
// What the three kinds of convolution have in common: arguments, checks, and which weights lie
// within the image.
#pragma once

#include <algorithm>
#include <optional>

#include <executorch/backends/cortex_m/runtime/checks.h>
#include <executorch/backends/cortex_m/runtime/fixed_point.h>

namespace executorch::backends::cortex_m {

using Numbers = aten::ArrayRef<int64_t>;

// Weights [channels of the result or 1, height, width, channels], contiguous.
struct Kernel {
  int32_t height = 0, width = 0;

  explicit Kernel(const Tensor& weight)
      : height(static_cast<int32_t>(weight.size(1))), width(static_cast<int32_t>(weight.size(2))) {}
};

// A convolution whose tensors have been checked: how its sums become results.
struct Sums {
  const int32_t* bias;  // nullptr: none
  const int32_t* multipliers;
  const int32_t* shifts;
  int32_t input_offset, output_offset;
  Limits limits;

  int32_t start(int32_t channel) const { return bias == nullptr ? 0 : bias[channel]; }

  int8_t finish(int32_t sum, int32_t channel) const {
    return limits(Scale(multipliers[channel], shifts[channel])(sum) + output_offset);
  }
};

// The arguments that all three take, in one place.
struct ConvArguments {
  const char* name;
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  Numbers stride, padding, dilation;
  int64_t input_offset, output_offset;
  const Tensor& multipliers;
  const Tensor& shifts;
  int64_t activation_min, activation_max;
};

// What their loops go over.
struct Geometry {
  Image in, to;
  Kernel kernel;
  Pair stride, padding, dilation;
  const int8_t* x;
  const int8_t* weights;

  // Of arguments that have been checked, and an output that has its size.
  Geometry(const ConvArguments& arguments, const Tensor& out)
      : in(arguments.input),
        to(out),
        kernel(arguments.weight),
        stride(arguments.stride),
        padding(arguments.padding),
        dilation(arguments.dilation),
        x(arguments.input.const_data_ptr<int8_t>()),
        weights(arguments.weight.const_data_ptr<int8_t>()) {}
};

// Fails the context and gives nothing where the arguments are not those of a convolution to
// `channels`.
std::optional<Sums> check_conv(KernelRuntimeContext& context, const ConvArguments& arguments,
                               int64_t channels, const Tensor& out);

// Gives `out` its size: [batch, channels, height, width]. Fails the context where that cannot be.
bool resize_image(KernelRuntimeContext& context, const char* name, const Tensor& input,
                  int64_t channels, int64_t height, int64_t width, Tensor& out);

// Of a convolution along one dimension.
inline int64_t conv_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                         int64_t dilation) {
  const int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1;
  return span < 0 ? 0 : span / stride + 1;
}

// The same, of rows (`side` 0) or columns (1).
inline int64_t conv_size(const ConvArguments& arguments, size_t side) {
  const auto place = static_cast<ssize_t>(side);
  return conv_size(arguments.input.size(place + 2), arguments.weight.size(place + 1),
                   arguments.stride[side], arguments.padding[side], arguments.dilation[side]);
}

// The weights [begin, end) of a row or column of `taps` that lie on the image when the first lies
// at `origin`.
struct Taps {
  int32_t begin, end;

  Taps(int32_t origin, int32_t taps, int32_t dilation, int32_t size)
      : begin(origin >= 0 ? 0 : (-origin + dilation - 1) / dilation),
        end(origin >= size ? 0 : std::min(taps, (size - origin + dilation - 1) / dilation)) {}
};

}  // namespace executorch::backends::cortex_m
