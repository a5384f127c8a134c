// SPDX-License-Identifier: BSD-3-Clause
// Sums of products of stored values: linear, and convolutions of one and two dimensions. Sums are
// int32.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/common.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;
using executorch::aten::ArrayRef;
using executorch::aten::SizesType;
using executorch::runtime::kTensorDimensionLimit;

namespace {

bool are_operands(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& out) {
  const ScalarType dtype = input.scalar_type();
  return weight.scalar_type() == dtype && out.scalar_type() == dtype &&
         bias.scalar_type() == ScalarType::Int && is_contiguous(input) && is_contiguous(weight);
}

// A convolution of [N, C, H, W]; of [N, C, L], with a height of 1.
struct Geometry {
  int32_t batch, inputs, height, width, outputs, kernel_height, kernel_width, out_height, out_width;
  int32_t stride[2], padding[2], dilation[2], groups;

  // Row and column of the input below one place of the kernel; whether it is within.
  bool within(int32_t out_row, int32_t out_column, int32_t i, int32_t j, int32_t& row,
              int32_t& column) const {
    row = out_row * stride[0] - padding[0] + i * dilation[0];
    column = out_column * stride[1] - padding[1] + j * dilation[1];
    return 0 <= row && row < height && 0 <= column && column < width;
  }
};

int32_t size_of(const Tensor& tensor, ssize_t from_end) {
  const ssize_t place = tensor.dim() - from_end;
  return place < 2 ? 1 : static_cast<int32_t>(tensor.size(place));
}

bool fill_pair(ArrayRef<int64_t> values, int64_t least, int32_t absent, int32_t (&pair)[2]) {
  pair[0] = absent;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < least || values[i] > 32767) {
      return false;
    }
    pair[2 - values.size() + i] = static_cast<int32_t>(values[i]);
  }
  return true;
}

int32_t placed(int32_t size, int32_t kernel, int32_t stride, int32_t padding, int32_t dilation) {
  const int32_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

// False where the sizes do not belong together.
bool make_geometry(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                   int64_t groups, Geometry& made) {
  const auto rank = static_cast<size_t>(input.dim() - 2);
  const bool have_rank = input.dim() == weight.dim() && stride.size() == rank &&
                         padding.size() == rank && dilation.size() == rank;
  if (!have_rank || groups < 1 || groups > input.size(1) || !fill_pair(stride, 1, 1, made.stride) ||
      !fill_pair(padding, 0, 0, made.padding) || !fill_pair(dilation, 1, 1, made.dilation)) {
    return false;
  }
  made.batch = static_cast<int32_t>(input.size(0));
  made.inputs = static_cast<int32_t>(input.size(1));
  made.height = size_of(input, 2);
  made.width = size_of(input, 1);
  made.outputs = static_cast<int32_t>(weight.size(0));
  made.kernel_height = size_of(weight, 2);
  made.kernel_width = size_of(weight, 1);
  made.groups = static_cast<int32_t>(groups);
  made.out_height =
      placed(made.height, made.kernel_height, made.stride[0], made.padding[0], made.dilation[0]);
  made.out_width =
      placed(made.width, made.kernel_width, made.stride[1], made.padding[1], made.dilation[1]);
  return made.out_height > 0 && made.out_width > 0 && bias.numel() == made.outputs &&
         made.inputs % made.groups == 0 && made.outputs % made.groups == 0 &&
         weight.size(1) * made.groups == made.inputs;
}

template <typename T>
struct Convolution {
  const Geometry& geometry;
  const T* input;
  const T* weight;
  int32_t input_zero_point, weight_zero_point;

  int32_t sum(int32_t image, int32_t channel, int32_t row, int32_t column) const {
    const Geometry& g = geometry;
    const int32_t depth = g.inputs / g.groups;
    const int32_t first = channel / (g.outputs / g.groups) * depth;
    const T* kernel = weight + channel * depth * g.kernel_height * g.kernel_width;
    int32_t total = 0;
    for (int32_t c = 0; c < depth; ++c) {
      const T* plane = input + (image * g.inputs + first + c) * g.height * g.width;
      for (int32_t i = 0; i < g.kernel_height; ++i) {
        for (int32_t j = 0; j < g.kernel_width; ++j, ++kernel) {
          int32_t y = 0, x = 0;
          if (g.within(row, column, i, j, y, x)) {
            total += (plane[y * g.width + x] - input_zero_point) * (*kernel - weight_zero_point);
          }
        }
      }
    }
    return total;
  }

  void run(const int32_t* bias, float scale, const Storing& store, T* to) const {
    for (int32_t image = 0; image < geometry.batch; ++image) {
      for (int32_t channel = 0; channel < geometry.outputs; ++channel) {
        for (int32_t row = 0; row < geometry.out_height; ++row) {
          for (int32_t column = 0; column < geometry.out_width; ++column) {
            const int32_t total = bias[channel] + sum(image, channel, row, column);
            *to++ = store.operator()<T>(static_cast<float>(total) * scale);
          }
        }
      }
    }
  }
};

Tensor& convolve(KernelRuntimeContext& context, const char* name, ssize_t rank, const Tensor& input,
                 const Tensor& weight, const Tensor& bias, ArrayRef<int64_t> stride,
                 ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, int64_t groups,
                 int64_t input_zero_point, int64_t weight_zero_point, double bias_scale,
                 double out_scale, int64_t out_zero_point, Tensor& out) {
  Geometry geometry{};
  CADENCE_CHECK(are_operands(input, weight, bias, out),
                "%s: expected contiguous operands of one dtype, and a bias of int32", name);
  CADENCE_CHECK(input.dim() == rank &&
                    make_geometry(input, weight, bias, stride, padding, dilation, groups, geometry),
                "%s: expected an input, a weight and a bias whose sizes belong together", name);
  const SizesType sizes[4] = {geometry.batch, geometry.outputs,
                              rank == 3 ? geometry.out_width : geometry.out_height,
                              geometry.out_width};
  CADENCE_CHECK(take_size(out, {sizes, static_cast<size_t>(rank)}),
                "%s: expected an output of the convolution's size", name);
  const bool is_known = with_stored_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Convolution<T> convolution{
        geometry, input.const_data_ptr<T>(), weight.const_data_ptr<T>(),
        static_cast<int32_t>(input_zero_point), static_cast<int32_t>(weight_zero_point)};
    convolution.run(bias.const_data_ptr<int32_t>(), static_cast<float>(bias_scale),
                    Storing::whole<T>(1.0f / static_cast<float>(out_scale), out_zero_point),
                    out.mutable_data_ptr<T>());
  });
  CADENCE_CHECK(is_known, "%s: expected int8, uint8 or int16", name);
  return out;
}

}  // namespace

Tensor& quantized_linear_per_tensor_out(
    KernelRuntimeContext& context, const Tensor& src, const Tensor& weight, const Tensor& bias,
    int64_t src_zero_point, int64_t weight_zero_point, int64_t out_multiplier, int64_t out_shift,
    int64_t out_zero_point, const executorch::aten::optional<Tensor>& /*offset*/, Tensor& out) {
  CADENCE_CHECK(are_operands(src, weight, bias, out),
                "quantized_linear: expected contiguous operands of one dtype, a bias of int32");
  CADENCE_CHECK(src.dim() >= 1 && weight.dim() == 2 && src.size(src.dim() - 1) == weight.size(1) &&
                    bias.numel() == weight.size(0),
                "quantized_linear: expected weights [outputs, inputs], a bias of each output");
  SizesType sizes[kTensorDimensionLimit];
  for (ssize_t i = 0; i < src.dim(); ++i) {
    sizes[i] = src.size(i);
  }
  sizes[src.dim() - 1] = weight.size(0);
  CADENCE_CHECK(take_size(out, {sizes, static_cast<size_t>(src.dim())}),
                "quantized_linear: expected an output of the input's size but for the last");
  const ssize_t inputs = weight.size(1), outputs = weight.size(0);
  const bool is_known = with_stored_type(src.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Storing store = Storing::whole<T>(scale_of(out_multiplier, out_shift), out_zero_point);
    const T* row = src.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t left = out.numel(); left > 0; left -= outputs, row += inputs) {
      for (ssize_t j = 0; j < outputs; ++j) {
        int32_t total = bias.const_data_ptr<int32_t>()[j];
        const T* weights = weight.const_data_ptr<T>() + j * inputs;
        for (ssize_t k = 0; k < inputs; ++k) {
          total += (row[k] - static_cast<int32_t>(src_zero_point)) *
                   (weights[k] - static_cast<int32_t>(weight_zero_point));
        }
        *to++ = store.operator()<T>(static_cast<float>(total));
      }
    }
  });
  CADENCE_CHECK(is_known, "quantized_linear: expected int8, uint8 or int16");
  return out;
}

#define CADENCE_CONVOLUTION(NAME, RANK)                                                           \
  Tensor& NAME##_per_tensor_out(                                                                  \
      KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,                   \
      const Tensor& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,                    \
      ArrayRef<int64_t> dilation, int64_t groups, int64_t input_zero_point,                       \
      int64_t weight_zero_point, double bias_scale, double out_scale, int64_t out_zero_point,     \
      int64_t /*out_multiplier*/, int64_t /*out_shift*/, Tensor& out) {                           \
    return convolve(context, #NAME, RANK, input, weight, bias, stride, padding, dilation, groups, \
                    input_zero_point, weight_zero_point, bias_scale, out_scale, out_zero_point,   \
                    out);                                                                         \
  }

CADENCE_CONVOLUTION(quantized_conv1d_ncl, 3)
CADENCE_CONVOLUTION(quantized_conv2d_nchw, 4)

}  // namespace impl::generic::native
