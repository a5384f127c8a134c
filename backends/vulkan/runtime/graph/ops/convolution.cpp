// SPDX-License-Identifier: BSD-3-Clause
// Convolutions, of numbers and of 8-bit integers; linear layers of 8-bit integers, which are such
// of one place.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/matmul.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>
#include <limits>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Images of [n, c, h, w]; a row is an image of height 1.
struct Image {
  int64_t n = 1;
  int64_t c = 1;
  int64_t h = 1;
  int64_t w = 1;
};

struct Window {
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  int64_t output_padding[2] = {0, 0};
  bool is_transposed = false;
  int64_t groups = 1;
};

/// What convolution.glsl gets.
struct Convolution {
  const Tensor* x = nullptr;
  const Tensor* w = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* y = nullptr;
  Image in;
  Image out;
  Window window;
  int64_t w_strides[4] = {};  // output channel, input channel, y, x
  int64_t w_group = 0;
  float low = -kInfinity;
  float high = kInfinity;
  bool is_quantized = false;
  bool is_float_out = true;
  int64_t in_zero = 0;
  int64_t out_zero = 0;
  float in_scale = 1;
  float out_inverse = 1;
};

Error run(Call& call, const Convolution& c) {
  const auto& w = c.window;
  return call.dispatch("convolution")
      .read(*c.x)
      .read(*c.w)
      .read(c.bias == nullptr ? *c.x : *c.bias)
      .read(c.scales == nullptr ? *c.x : *c.scales)
      .write(*c.y)
      .constant(w.is_transposed ? 1 : 0)
      .constant(c.is_quantized ? 1 : 0)
      .params(c.in.n, c.in.c, c.in.h, c.in.w)
      .params(c.out.n, c.out.c, c.out.h, c.out.w)
      .params(w.kernel[0], w.kernel[1], w.stride[0], w.stride[1])
      .params(w.padding[0], w.padding[1], w.dilation[0], w.dilation[1])
      .params(c.w_strides[0], c.w_strides[1], c.w_strides[2], c.w_strides[3])
      .param(c.w_group)
      .param(w.groups)
      .param(int64_t{c.bias != nullptr})
      .param(c.in_zero)
      .param(c.out_zero)
      .param(c.in_scale)
      .param(c.out_inverse)
      .param(c.low)
      .param(c.high)
      .param(int64_t{c.is_float_out})
      .elements(c.out.n * c.out.c * c.out.h * c.out.w);
}

/// One of 1x1, one group: rows are output channels, columns places.
Error run_pointwise(Call& call, const Convolution& c) {
  Matmul product;
  const int64_t plane = c.in.h * c.in.w;
  product.a = c.w;
  product.w = c.x;
  product.bias = c.bias;
  product.y = c.y;
  product.batches = c.in.n;
  product.m = c.out.c;
  product.n = plane;
  product.k = c.in.c;
  product.a_strides[1] = c.w_strides[0];
  product.a_strides[2] = c.w_strides[1];
  product.w_strides[0] = c.in.c * plane;
  product.w_strides[1] = plane;
  product.w_strides[2] = 1;
  product.y_strides[0] = c.out.c * plane;
  product.y_strides[1] = plane;
  product.y_strides[2] = 1;
  product.bias_strides[1] = 1;
  product.low = c.low;
  product.high = c.high;
  return multiply(call, product);
}

Error read_pair(Call& call, size_t index, bool is_row, int64_t least, int64_t (&out)[2]) {
  const auto found = ET_UNWRAP(call.integers(index));
  if (found.empty()) {
    return Error::Ok;
  }
  const int64_t last = found.back();
  const int64_t first = is_row ? out[0] : found.front();
  constexpr int64_t kMax = 1 << 20;
  if (found.size() > 2 || first < least || last < least || first > kMax || last > kMax) {
    return call.mismatch("expected one number for each of its dimensions");
  }
  out[0] = first;
  out[1] = last;
  return Error::Ok;
}

Result<Image> image_of(Call& call, const Shape& shape) {
  const size_t rank = shape.rank;
  if (rank < 3 || rank > 4) {
    return call.mismatch("expected an input of 3 or 4 dimensions");
  }
  return Image{shape[0], shape[1], rank == 4 ? shape[2] : 1, shape.at(-1)};
}

/// Sizes along one dimension.
int64_t size_after(int64_t size, const Window& window, size_t dim) {
  const int64_t span = window.dilation[dim] * (window.kernel[dim] - 1) + 1;
  if (window.is_transposed) {
    return (size - 1) * window.stride[dim] - 2 * window.padding[dim] + span +
           window.output_padding[dim];
  }
  const int64_t room = size + 2 * window.padding[dim] - span;
  return room < 0 ? -1 : room / window.stride[dim] + 1;
}

Error resize_output(Call& call, Convolution& c, Tensor& out, int64_t channels, bool is_row) {
  c.out = {c.in.n, channels, size_after(c.in.h, c.window, 0), size_after(c.in.w, c.window, 1)};
  if (c.out.h < 0 || c.out.w < 0 || c.out.h > std::numeric_limits<int32_t>::max() ||
      c.out.w > std::numeric_limits<int32_t>::max()) {
    return call.mismatch("a window that is larger than its input");
  }
  const Shape shape =
      is_row ? Shape{c.out.n, c.out.c, c.out.w} : Shape{c.out.n, c.out.c, c.out.h, c.out.w};
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  c.out.h = is_row ? 1 : out.shape.at(-2);
  c.out.w = out.shape.at(-1);
  c.y = &out;
  return Error::Ok;
}

Error convolution(Call& call) {
  Convolution c;
  c.x = ET_UNWRAP(call.tensor(0));
  c.w = ET_UNWRAP(call.tensor(1));
  c.bias = ET_UNWRAP(call.optional_tensor(2));
  Tensor& out = *ET_UNWRAP(call.output());
  c.in = ET_UNWRAP(image_of(call, c.x->shape));
  const bool is_row = c.x->shape.rank == 3;
  Window& window = c.window;
  const Shape& w = c.w->shape;
  window.is_transposed = ET_UNWRAP(call.boolean(6));
  window.groups = ET_UNWRAP(call.integer(8));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 3, is_row, 1, window.stride));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 4, is_row, 0, window.padding));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 5, is_row, 1, window.dilation));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 7, is_row, 0, window.output_padding));
  if (w.rank != c.x->shape.rank || window.groups < 1 || w[0] < 1 || w[1] < 1 ||
      c.in.c % window.groups != 0 || w[0] % window.groups != 0 ||
      (window.is_transposed ? w[0] : w[1] * window.groups) != c.in.c) {
    return call.mismatch("expected weights for its input's channels and groups");
  }
  window.kernel[0] = is_row ? 1 : w[2];
  window.kernel[1] = w.at(-1);
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const int64_t channels = window.is_transposed ? w[1] * window.groups : w[0];
  const int64_t by_first = w[1] * taps;
  c.w_strides[0] = window.is_transposed ? taps : by_first;
  c.w_strides[1] = window.is_transposed ? by_first : taps;
  c.w_strides[2] = window.kernel[1];
  c.w_strides[3] = 1;
  c.w_group = w[0] / window.groups * by_first;
  if (c.bias != nullptr && c.bias->numel() < channels) {
    return call.mismatch("expected a bias for each output channel");
  }
  if (call.num_args() > 11) {
    c.low = to_float(ET_UNWRAP(call.number_or(9, -std::numeric_limits<double>::infinity())));
    c.high = to_float(ET_UNWRAP(call.number_or(10, std::numeric_limits<double>::infinity())));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(resize_output(call, c, out, channels, is_row));
  const auto is = [](const int64_t(&pair)[2], int64_t value) {
    return pair[0] == value && pair[1] == value;
  };
  const bool is_pointwise = !window.is_transposed && taps == 1 && window.groups == 1 &&
                            is(window.stride, 1) && is(window.padding, 0);
  return is_pointwise ? run_pointwise(call, c) : run(call, c);
}

/// Arguments 1 to 8 of what has 8-bit integers in and out.
Error read_quantized(Call& call, Convolution& c, size_t after_scales, bool has_output) {
  c.is_quantized = true;
  c.x = ET_UNWRAP(call.tensor(0));
  c.in_scale = to_float(ET_UNWRAP(call.number(1)));
  c.in_zero = ET_UNWRAP(call.integer(2));
  c.w = ET_UNWRAP(call.tensor(3));
  c.scales = ET_UNWRAP(call.tensor(5));
  c.is_float_out = !has_output;
  if (has_output) {
    c.out_inverse = to_float(1 / ET_UNWRAP(call.number(6)));
    c.out_zero = ET_UNWRAP(call.integer(7));
  }
  c.bias = ET_UNWRAP(call.optional_tensor(after_scales));
  return Error::Ok;
}

Error read_activation(Call& call, size_t index, Convolution& c) {
  const auto name = ET_UNWRAP(call.text(index));
  if (name != "none" && name != "relu" && !name.empty()) {
    return call.refuse("expected the activation none or relu");
  }
  c.low = name == "relu" ? 0 : -kInfinity;
  return Error::Ok;
}

enum QuantizedCode : int32_t { kGeneral, kDepthwise, kTransposed };

/// Weights: [OC, (ky, kx, ic) padded], depthwise [ky, kx, OC].
Error quantized_convolution(Call& call) {
  Convolution c;
  ET_CHECK_OK_OR_RETURN_ERROR(read_quantized(call, c, 8, true));
  Tensor& out = *ET_UNWRAP(call.output());
  c.in = ET_UNWRAP(image_of(call, c.x->shape));
  const bool is_row = c.x->shape.rank == 3;
  const bool is_transposed = call.code() == kTransposed;
  Window& window = c.window;
  window.is_transposed = is_transposed;
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 9, is_row, 1, window.kernel));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 10, is_row, 1, window.stride));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 11, is_row, 0, window.padding));
  if (is_transposed) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 12, is_row, 0, window.output_padding));
  }
  const size_t at = is_transposed ? 13 : 12;
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, at, is_row, 1, window.dilation));
  window.groups = ET_UNWRAP(call.integer(at + 1));
  ET_CHECK_OK_OR_RETURN_ERROR(read_activation(call, at + 2, c));
  const Shape& w = c.w->shape;
  const int64_t taps = window.kernel[0] * window.kernel[1];
  if (window.groups < 1 || c.in.c % window.groups != 0 || w.rank < 2 || out.bound.rank < 2) {
    return call.mismatch("expected weights for its input's channels and groups");
  }
  const int64_t group_in = c.in.c / window.groups;
  const int64_t channels = out.bound[1];
  const int64_t row = c.w->numel() / std::max<int64_t>(w[0], 1);
  if (call.code() == kDepthwise) {
    const int64_t columns = w.at(-1);
    c.w_strides[0] = 1;
    c.w_strides[2] = window.kernel[1] * columns;
    c.w_strides[3] = columns;
    c.w_group = channels / window.groups;
  } else {
    c.w_strides[0] = row;
    c.w_strides[1] = 1;
    c.w_strides[2] = window.kernel[1] * group_in;
    c.w_strides[3] = group_in;
    c.w_group = channels / window.groups * row;
  }
  const bool fits = call.code() == kDepthwise ? c.w->numel() >= taps * channels && group_in == 1
                                              : row >= taps * group_in && w[0] >= channels;
  if (!fits || channels % window.groups != 0 || c.scales->numel() < channels ||
      (c.bias != nullptr && c.bias->numel() < channels)) {
    return call.mismatch("expected weights, scales and bias for its channels");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(resize_output(call, c, out, channels, is_row));
  return run(call, c);
}

/// Integers in; out, or numbers out. Weights [N, K padded].
Error quantized_linear(Call& call) {
  Convolution c;
  const bool has_output = call.code() == 1;
  ET_CHECK_OK_OR_RETURN_ERROR(read_quantized(call, c, has_output ? 8 : 6, has_output));
  if (has_output) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_activation(call, 9, c));
  }
  Tensor& out = *ET_UNWRAP(call.output());
  const Shape& x = c.x->shape;
  const Shape& w = c.w->shape;
  if (x.rank < 1 || out.bound.rank != x.rank || w.rank < 1 || x.at(-1) < 1) {
    return call.mismatch("expected an input of at least one dimension");
  }
  const int64_t k = x.at(-1);
  const int64_t columns = out.bound.at(-1);
  const int64_t row = c.w->numel() / std::max<int64_t>(w[0], 1);
  if (row < k || w[0] < columns || c.scales->numel() < columns ||
      (c.bias != nullptr && c.bias->numel() < columns)) {
    return call.mismatch("expected weights, scales and bias for its outputs");
  }
  Shape shape = x;
  shape[shape.rank - 1] = static_cast<int32_t>(columns);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  c.y = &out;
  c.in = {c.x->numel() / k, k, 1, 1};
  c.out = {c.x->numel() / k, columns, 1, 1};
  c.w_strides[0] = row;
  c.w_strides[1] = 1;
  Tensor quantized = *c.x;
  if (is_real(c.x->element)) {  // a fusion that keeps the numbers
    const Element byte = call.graph().device().has_small_elements ? Element::kChar : Element::kInt;
    quantized = ET_UNWRAP(call.scratch(byte, c.x->bound));
    quantized.shape = c.x->shape;
    ET_CHECK_OK_OR_RETURN_ERROR(
        apply_unary(call, kQuantize, *c.x, quantized, {1 / c.in_scale, 0, -128, 127, c.in_zero}));
    c.x = &quantized;
  }
  return run(call, c);
}

constexpr Operator kRows[] = {
    {"aten.convolution.default", convolution},
    {"et_vk.conv_with_clamp.default", convolution},
    {"conv_with_clamp.default", convolution},
    {"et_vk.q8ta_conv2d.default", quantized_convolution, kGeneral},
    {"et_vk.q8ta_conv2d_pw.default", quantized_convolution, kGeneral},
    {"et_vk.q8ta_conv2d_general.default", quantized_convolution, kGeneral},
    {"et_vk.q8ta_conv2d_im2col.default", quantized_convolution, kGeneral},
    {"et_vk.q8ta_conv2d_dw.default", quantized_convolution, kDepthwise},
    {"et_vk.q8ta_conv2d_transposed.default", quantized_convolution, kTransposed},
    {"et_vk.q8ta_linear.default", quantized_linear, 1},
    {"et_vk.q8ta_linear_gemv.default", quantized_linear, 1},
    {"et_vk.linear_q8ta_q8csw.default", quantized_linear, 0},
};

}  // namespace

Operators convolution_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
