// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of one, two and three dimensions, transposed ones too, channels first or last. Sums
// of stored values are int64.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/convolution.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;

namespace {

// Calls `store` with each output channel's sum and where it goes. Of a group the inputs are read
// tap by tap, so that the place of a tap is worked out once for all of its channels.
template <typename Sum, typename T, typename W, typename Store>
void convolve(const Convolution& c, const T* input, Sum x_point, const W* weight, Sum w_point,
              Store&& store) {
  const int32_t depth = c.inputs / c.groups, outputs = c.outputs / c.groups;
  for (int32_t image = 0; image < c.batch; ++image) {
    for (int32_t channel = 0; channel < c.outputs; ++channel) {
      const int32_t group = channel / outputs;
      for_each_place(c.placed, [&](const int32_t(&place)[3]) {
        Sum total = 0;
        for_each_place(c.kernel, [&](const int32_t(&tap)[3]) {
          int32_t from[3];
          if (!c.source(place, tap, from)) {
            return;
          }
          const T* x = input + c.input.at(image, group * depth, from);
          const W* w = c.transposed ? weight + c.weight.at(channel % outputs, group * depth, tap)
                                    : weight + c.weight.at(channel, 0, tap);
          for (int32_t i = 0; i < depth; ++i) {
            total += (x[i * c.input.channel] - x_point) * (w[i * c.weight.channel] - w_point);
          }
        });
        store(channel, c.out.at(image, channel, place), total);
      });
    }
  }
}

struct Quantization {
  int64_t input_zero_point, weight_zero_point;
  float bias_scale;
  double out_scale;
  int64_t out_zero_point;
};

// Sums of 8 bits fit into int32 below so many products of differences up to 510.
constexpr int64_t kSmall = 8000;

bool is_small(const Convolution& c, const Quantization& q) {
  const int64_t taps = static_cast<int64_t>(c.kernel[0]) * c.kernel[1] * c.kernel[2];
  return c.inputs / c.groups * taps <= kSmall && std::abs(q.input_zero_point) <= 255 &&
         std::abs(q.weight_zero_point) <= 255;
}

template <typename T, typename W>
void run_quantized(const Convolution& c, const T* input, const W* weight, const int32_t* bias,
                   const Quantization& q, T* to) {
  const Quantizer rounds = Quantizer::of_scale<T>(q.out_scale, q.out_zero_point);
  const auto store = [&](int32_t channel, ssize_t place, int64_t sum) {
    const auto total = static_cast<float>(bias[channel] + sum);
    to[place] = rounds.operator()<T>(total * q.bias_scale);
  };
  if (sizeof(T) == 1 && is_small(c, q)) {
    convolve<int32_t>(c, input, int32(q.input_zero_point), weight, int32(q.weight_zero_point),
                      store);
  } else {
    convolve<int64_t>(c, input, q.input_zero_point, weight, q.weight_zero_point, store);
  }
}

Tensor& quantized(KernelRuntimeContext& context, const char* name, const Tensor& input,
                  const Tensor& weight, const Tensor& bias, const Movement& movement,
                  const Quantization& q, Tensor& out) {
  Convolution c{};
  CADENCE_CHECK(out.scalar_type() == input.scalar_type() && bias.scalar_type() == ScalarType::Int &&
                    is_contiguous(input) && is_contiguous(weight),
                "%s: expected contiguous operands, an output of the input's dtype, a bias of int32",
                name);
  CADENCE_CHECK(make_convolution(input, weight, movement, c) && bias.numel() == c.outputs &&
                    take_convolution_size(c, movement.channels_last, out),
                "%s: expected an input, a weight and a bias whose sizes belong together", name);
  const bool is_known = with_types_of_weights(input, weight, [&](auto type, auto weight_type) {
    using T = decltype(type);
    using W = decltype(weight_type);
    run_quantized(c, input.const_data_ptr<T>(), weight.const_data_ptr<W>(),
                  bias.const_data_ptr<int32_t>(), q, out.mutable_data_ptr<T>());
  });
  CADENCE_CHECK(is_known, "%s: expected int8, uint8 or int16, int8 beside int16", name);
  return out;
}

Tensor& of_floats(KernelRuntimeContext& context, const char* name, const Tensor& input,
                  const Tensor& weight, const Tensor& bias, const Movement& movement, Tensor& out) {
  Convolution c{};
  const bool are_floats =
      input.scalar_type() == ScalarType::Float && weight.scalar_type() == ScalarType::Float &&
      bias.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float;
  CADENCE_CHECK(are_floats && is_contiguous(input) && is_contiguous(weight) &&
                    make_convolution(input, weight, movement, c) && bias.numel() == c.outputs &&
                    take_convolution_size(c, movement.channels_last, out),
                "%s: expected contiguous float32 operands whose sizes belong together", name);
  const float* added = bias.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  convolve<float>(
      c, input.const_data_ptr<float>(), 0, weight.const_data_ptr<float>(), 0,
      [&](int32_t channel, ssize_t place, float sum) { to[place] = added[channel] + sum; });
  return out;
}

bool says_scale(const Tensor& weight_zero_point, const Tensor& bias_scale) {
  return has_integers(weight_zero_point, 1) && has_number(bias_scale);
}

}  // namespace

// NAME, whether channels are last, and what stands behind the numbers.
#define CADENCE_CONVOLUTION(NAME, IS_LAST, ...)                                            \
  Tensor& NAME(KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,   \
               const Tensor& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,    \
               ArrayRef<int64_t> dilation, int64_t groups, int64_t input_zero_point,       \
               int64_t weight_zero_point, double bias_scale, double out_scale,             \
               int64_t out_zero_point, int64_t /*out_multiplier*/, int64_t /*out_shift*/,  \
               __VA_ARGS__ Tensor& out) {                                                  \
    return quantized(context, #NAME, input, weight, bias,                                  \
                     {stride, padding, dilation, groups, IS_LAST},                         \
                     {input_zero_point, weight_zero_point, static_cast<float>(bias_scale), \
                      out_scale, out_zero_point},                                          \
                     out);                                                                 \
  }
CADENCE_CONVOLUTION(quantized_conv_nchw_per_tensor_out, false)
CADENCE_CONVOLUTION(quantized_conv_nhwc_typed_out, true)
CADENCE_CONVOLUTION(quantized_conv_nhwc_per_tensor_out, true,
                    const executorch::aten::optional<Tensor>& /*offset*/, )

// The same with numbers as tensors of one value.
#define CADENCE_CONVOLUTION_OF_TENSORS(NAME, IS_LAST)                                            \
  Tensor& NAME(KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,         \
               const Tensor& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,          \
               ArrayRef<int64_t> dilation, int64_t groups, int64_t input_zero_point,             \
               const Tensor& weight_zero_point, const Tensor& bias_scale, double out_scale,      \
               int64_t out_zero_point, const Tensor& /*out_multiplier*/,                         \
               const Tensor& /*out_shift*/, Tensor& out) {                                       \
    CADENCE_CHECK(says_scale(weight_zero_point, bias_scale),                                     \
                  #NAME ": expected tensors of one zero point and of one scale");                \
    return quantized(context, #NAME, input, weight, bias,                                        \
                     {stride, padding, dilation, groups, IS_LAST},                               \
                     {input_zero_point, integer_at(weight_zero_point, 0), number_of(bias_scale), \
                      out_scale, out_zero_point},                                                \
                     out);                                                                       \
  }
CADENCE_CONVOLUTION_OF_TENSORS(quantized_conv_nchw_out, false)
CADENCE_CONVOLUTION_OF_TENSORS(quantized_conv_nhwc_out, true)

Tensor& quantized_transposed_conv_out(KernelRuntimeContext& context, const Tensor& input,
                                      const Tensor& weight, const Tensor& bias,
                                      ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                      ArrayRef<int64_t> dilation, ArrayRef<int64_t> output_padding,
                                      int64_t groups, int64_t input_zero_point,
                                      const Tensor& weight_zero_point, const Tensor& bias_scale,
                                      double out_scale, int64_t out_zero_point,
                                      const Tensor& /*out_multiplier*/, const Tensor& /*out_shift*/,
                                      bool channel_last, Tensor& out) {
  CADENCE_CHECK(says_scale(weight_zero_point, bias_scale),
                "quantized_transposed_conv: expected tensors of one zero point and of one scale");
  return quantized(context, "quantized_transposed_conv", input, weight, bias,
                   {stride, padding, dilation, groups, channel_last, true, output_padding},
                   {input_zero_point, integer_at(weight_zero_point, 0), number_of(bias_scale),
                    out_scale, out_zero_point},
                   out);
}

Tensor& conv_out(KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
                 const Tensor& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                 ArrayRef<int64_t> dilation, int64_t groups, Tensor& out) {
  return of_floats(context, "conv", input, weight, bias, {stride, padding, dilation, groups}, out);
}

Tensor& transposed_convolution_out(KernelRuntimeContext& context, const Tensor& input,
                                   const Tensor& weight, const Tensor& bias,
                                   ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                   ArrayRef<int64_t> dilation, ArrayRef<int64_t> output_padding,
                                   int64_t groups, bool channel_last, Tensor& out) {
  return of_floats(context, "transposed_convolution", input, weight, bias,
                   {stride, padding, dilation, groups, channel_last, true, output_padding}, out);
}

}  // namespace impl::generic::native
