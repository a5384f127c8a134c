// SPDX-License-Identifier: BSD-3-Clause
// Floats with weights that are stored in int8, and the decomposition into singular values.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/quantized_values.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;
using executorch::aten::optional;
using executorch::aten::string_view;

namespace {

bool is_float(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Float && is_contiguous(tensor);
}

bool is_int8(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Char && is_contiguous(tensor);
}

// int8 weights of one scale.
struct Weights {
  const int8_t* values;
  float scale;

  float operator[](int64_t place) const { return static_cast<float>(values[place]) * scale; }
};

Weights weights_of(const Tensor& tensor, double scale) {
  return {tensor.const_data_ptr<int8_t>(), static_cast<float>(scale)};
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

Tensor& quantized_w8a32_linear_out(KernelRuntimeContext& context, const Tensor& input,
                                   const Tensor& weight, double w_scale, const Tensor& bias,
                                   double b_scale, Tensor& out) {
  const ssize_t rank = input.dim();
  CADENCE_CHECK(is_float(input) && out.scalar_type() == ScalarType::Float && is_int8(weight) &&
                    is_int8(bias) && rank >= 1 && weight.dim() == 2 &&
                    weight.size(0) == input.size(rank - 1) && bias.numel() == weight.size(1),
                "quantized_w8a32_linear: expected float32, int8 weights [inputs, outputs], a bias");
  Sizes sizes;
  sizes.add_leading(input, rank - 1);
  sizes.add(weight.size(1));
  CADENCE_CHECK(sizes.take(out), "quantized_w8a32_linear: expected an output [.., outputs]");
  const int64_t inputs = weight.size(0), outputs = weight.size(1);
  const Weights w = weights_of(weight, w_scale), b = weights_of(bias, b_scale);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const float* row = input.const_data_ptr<float>() + i / outputs * inputs;
    float total = 0;
    for (int64_t k = 0; k < inputs; ++k) {
      total += row[k] * w[k * outputs + i % outputs];
    }
    out.mutable_data_ptr<float>()[i] = total + b[i % outputs];
  }
  return out;
}

Tensor& quantized_w8a32_conv_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& weight, double w_scale, const Tensor& bias,
                                 double b_scale, Tensor& out) {
  CADENCE_CHECK(is_float(input) && out.scalar_type() == ScalarType::Float && is_int8(weight) &&
                    is_int8(bias) && input.dim() == 3 && weight.dim() == 3 &&
                    input.size(2) == weight.size(2) && input.size(1) >= weight.size(0) &&
                    bias.numel() == weight.size(1),
                "quantized_w8a32_conv: expected float32 [batch, length, channels], int8 weights "
                "[kernel, outputs, channels], a bias");
  const int64_t kernel = weight.size(0), outputs = weight.size(1), channels = weight.size(2);
  const int64_t length = input.size(1), places = length - kernel + 1;
  Sizes sizes;
  sizes.add(input.size(0));
  sizes.add(outputs);
  sizes.add(places);
  CADENCE_CHECK(sizes.take(out), "quantized_w8a32_conv: expected [batch, outputs, places]");
  const Weights w = weights_of(weight, w_scale), b = weights_of(bias, b_scale);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t place = i % places, output = i / places % outputs;
    const float* from =
        input.const_data_ptr<float>() + (i / places / outputs * length + place) * channels;
    float total = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      for (int64_t c = 0; c < channels; ++c) {
        total += from[k * channels + c] * w[(k * outputs + output) * channels + c];
      }
    }
    out.mutable_data_ptr<float>()[i] = total + b[output];
  }
  return out;
}

namespace {

// One row of weights times a state, and its bias.
float gate(const float* state, int64_t size, int64_t row, const Weights& weights,
           const Weights& bias) {
  float total = 0;
  for (int64_t i = 0; i < size; ++i) {
    total += state[i] * weights[row * size + i];
  }
  return total + bias[row];
}

bool is_gates(const Tensor& weights, const Tensor& bias, int64_t inputs, int64_t size) {
  return is_int8(weights) && is_int8(bias) && weights.dim() == 2 && weights.size(0) == 3 * size &&
         weights.size(1) == inputs && bias.numel() == 3 * size;
}

}  // namespace

Tensor& quantized_w8a32_gru_out(KernelRuntimeContext& context, const Tensor& inputs,
                                const Tensor& hidden, const Tensor& weights_inputs,
                                double w_i_scale, const Tensor& weights_hidden, double w_h_scale,
                                const Tensor& bias_inputs, double b_scale,
                                const Tensor& bias_hidden, Tensor& out) {
  const ssize_t rank = hidden.dim();
  CADENCE_CHECK(is_float(inputs) && is_float(hidden) && out.scalar_type() == ScalarType::Float &&
                    rank >= 1 && hidden.numel() == hidden.size(rank - 1) && hidden.numel() > 0 &&
                    is_gates(weights_inputs, bias_inputs, inputs.numel(), hidden.numel()) &&
                    is_gates(weights_hidden, bias_hidden, hidden.numel(), hidden.numel()),
                "quantized_w8a32_gru: expected one float32 input and state, int8 weights "
                "[3 * state, input] and [3 * state, state], two biases");
  Sizes sizes;
  sizes.add(2);
  sizes.add_leading(hidden, rank);
  CADENCE_CHECK(sizes.take(out), "quantized_w8a32_gru: expected an output of two states");
  const int64_t size = hidden.numel(), width = inputs.numel();
  const float* x = inputs.const_data_ptr<float>();
  const float* state = hidden.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const Weights of_x = weights_of(weights_inputs, w_i_scale);
  const Weights of_state = weights_of(weights_hidden, w_h_scale);
  const Weights x_bias = weights_of(bias_inputs, b_scale);
  const Weights state_bias = weights_of(bias_hidden, b_scale);
  for (int64_t i = 0; i < size; ++i) {
    float from_x[3], from_state[3];
    for (int64_t part = 0; part < 3; ++part) {
      from_x[part] = gate(x, width, part * size + i, of_x, x_bias);
      from_state[part] = gate(state, size, part * size + i, of_state, state_bias);
    }
    const float reset = sigmoid(from_x[0] + from_state[0]);
    const float update = sigmoid(from_x[1] + from_state[1]);
    const float made = std::tanh(from_x[2] + reset * from_state[2]);
    to[i] = to[size + i] = (1 - update) * made + update * state[i];
  }
  return out;
}

}  // namespace impl::generic::native
