// SPDX-License-Identifier: BSD-3-Clause
// Matmuls: of quantized values, whose sums are int64, and of floats.
#include <cstdlib>

#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/quantized_values.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;

namespace {

template <typename Sum, typename T, typename W>
Sum dot_of(const T* x, const W* w, ssize_t count, ssize_t step, Sum x_point, Sum w_point) {
  Sum total = 0;
  for (ssize_t k = 0; k < count; ++k) {
    total += (x[k] - x_point) * (w[k * step] - w_point);
  }
  return total;
}

// In int32 as long as that holds the sums: 4096 products of differences of 8 bits.
template <typename T, typename W>
int64_t dot(const T* x, const W* w, ssize_t count, ssize_t step, int64_t x_point, int64_t w_point) {
  constexpr ssize_t kBlock = 4096;
  if (sizeof(T) > 1 || std::abs(x_point) > 255 || std::abs(w_point) > 255) {
    return dot_of<int64_t>(x, w, count, step, x_point, w_point);
  }
  int64_t total = 0;
  for (; count > 0; count -= kBlock, x += kBlock, w += kBlock * step) {
    total += dot_of<int32_t>(x, w, count < kBlock ? count : kBlock, step, int32(x_point),
                             int32(w_point));
  }
  return total;
}

// One for all outputs, or, of tensors, one for each.
struct Requantizing {
  int64_t multiplier, shift, weight_zero_point;
  const Tensor* multipliers;
  const Tensor* shifts;
  const Tensor* weight_zero_points;

  float factor(ssize_t output) const {
    return multipliers == nullptr
               ? scale_of(multiplier, shift)
               : scale_of(integer_at(*multipliers, output), integer_at(*shifts, output));
  }
  int64_t point(ssize_t output) const {
    return weight_zero_points == nullptr ? weight_zero_point
                                         : integer_at(*weight_zero_points, output);
  }
};

bool take_linear_size(const Tensor& src, const Tensor& weight, Tensor& out) {
  Sizes sizes;
  sizes.add_leading(src, src.dim() - 1);
  sizes.add(weight.size(0));
  return is_contiguous(src) && is_contiguous(weight) && sizes.take(out);
}

bool are_linear(const Tensor& src, const Tensor& weight) {
  return src.dim() >= 1 && weight.dim() == 2 && src.size(src.dim() - 1) == weight.size(1);
}

Tensor& linear(KernelRuntimeContext& context, const Tensor& src, const Tensor& weight,
               const Tensor& bias, int64_t src_zero_point, const Requantizing& numbers,
               int64_t out_zero_point, Tensor& out) {
  CADENCE_CHECK(out.scalar_type() == src.scalar_type() && bias.scalar_type() == ScalarType::Int,
                "quantized_linear: expected an output of the input's dtype, a bias of int32");
  CADENCE_CHECK(are_linear(src, weight) && bias.numel() == weight.size(0) &&
                    take_linear_size(src, weight, out),
                "quantized_linear: expected weights [outputs, inputs], a bias of each output");
  const ssize_t inputs = weight.size(1), outputs = weight.size(0);
  const bool is_known = with_types_of_weights(src, weight, [&](auto type, auto weight_type) {
    using T = decltype(type);
    const auto* weights = weight.const_data_ptr<decltype(weight_type)>();
    const T* from = src.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t j = 0; j < outputs; ++j) {
      const Quantizer store = Quantizer::of_factor<T>(numbers.factor(j), out_zero_point);
      for (ssize_t row = 0; row * outputs < out.numel(); ++row) {
        const int64_t total =
            bias.const_data_ptr<int32_t>()[j] + dot(from + row * inputs, weights + j * inputs,
                                                    inputs, 1, src_zero_point, numbers.point(j));
        to[row * outputs + j] = store.operator()<T>(static_cast<float>(total));
      }
    }
  });
  CADENCE_CHECK(is_known, "quantized_linear: expected int8, uint8 or int16, int8 beside int16");
  return out;
}

}  // namespace

Tensor& quantized_linear_per_tensor_out(
    KernelRuntimeContext& context, const Tensor& src, const Tensor& weight, const Tensor& bias,
    int64_t src_zero_point, int64_t weight_zero_point, int64_t out_multiplier, int64_t out_shift,
    int64_t out_zero_point, const executorch::aten::optional<Tensor>& /*offset*/, Tensor& out) {
  const Requantizing numbers{out_multiplier, out_shift, weight_zero_point,
                             nullptr,        nullptr,   nullptr};
  return linear(context, src, weight, bias, src_zero_point, numbers, out_zero_point, out);
}

Tensor& quantized_linear_out(KernelRuntimeContext& context, const Tensor& src, const Tensor& weight,
                             const Tensor& bias, int64_t src_zero_point,
                             const Tensor& weight_zero_point, const Tensor& out_multiplier,
                             const Tensor& out_shift, int64_t out_zero_point,
                             const executorch::aten::optional<Tensor>& /*offset*/, Tensor& out) {
  const ssize_t outputs = weight.dim() == 2 ? weight.size(0) : 1;
  CADENCE_CHECK(has_integers(weight_zero_point, outputs) && has_integers(out_multiplier, outputs) &&
                    has_integers(out_shift, outputs),
                "quantized_linear: expected one number, or one of each output, in each tensor");
  const Requantizing numbers{0, 0, 0, &out_multiplier, &out_shift, &weight_zero_point};
  return linear(context, src, weight, bias, src_zero_point, numbers, out_zero_point, out);
}

// ---- Products of two inputs ----

namespace {

struct MatmulSizes {
  ssize_t batch = 1, rows, inner, columns;
  Sizes out;
};

bool make_matmul(const Tensor& X, const Tensor& Y, bool transposed, MatmulSizes& made) {
  const ssize_t rank = X.dim();
  if (rank < 2 || Y.dim() != rank) {
    return false;
  }
  for (ssize_t i = 0; i < rank - 2; ++i) {
    if (X.size(i) != Y.size(i)) {
      return false;
    }
    made.batch *= X.size(i);
  }
  made.rows = X.size(rank - 2);
  made.inner = X.size(rank - 1);
  made.columns = Y.size(transposed ? rank - 2 : rank - 1);
  made.out.add_leading(X, rank - 1);
  made.out.add(made.columns);
  return Y.size(transposed ? rank - 1 : rank - 2) == made.inner;
}

template <typename T, typename W>
void multiply(const MatmulSizes& sizes, const T* x, int64_t x_point, const W* y, int64_t y_point,
              const int32_t* bias, bool transposed, const Quantizer& store, T* to) {
  const ssize_t step = transposed ? 1 : sizes.columns;
  for (ssize_t batch = 0; batch < sizes.batch; ++batch) {
    for (ssize_t i = 0; i < sizes.rows; ++i, x += sizes.inner) {
      for (ssize_t j = 0; j < sizes.columns; ++j) {
        const W* column = y + (transposed ? j * sizes.inner : j);
        const int64_t total =
            dot(x, column, sizes.inner, step, x_point, y_point) + (bias == nullptr ? 0 : bias[j]);
        *to++ = store.operator()<T>(static_cast<float>(total));
      }
    }
    y += sizes.inner * sizes.columns;
  }
}

}  // namespace

Tensor& quantized_matmul_out(KernelRuntimeContext& context, const Tensor& X, int64_t X_zero_point,
                             const Tensor& Y, int64_t Y_zero_point,
                             const executorch::aten::optional<Tensor>& bias, int64_t out_multiplier,
                             int64_t out_shift, int64_t out_zero_point, bool transposed,
                             Tensor& out) {
  MatmulSizes sizes;
  CADENCE_CHECK(out.scalar_type() == X.scalar_type() && is_contiguous(X) && is_contiguous(Y) &&
                    make_matmul(X, Y, transposed, sizes) && sizes.out.take(out),
                "quantized_matmul: expected contiguous [.., m, k] and [.., k, n], or [.., n, k] "
                "where transposed, of the same leading sizes");
  CADENCE_CHECK(!bias.has_value() ||
                    (bias->scalar_type() == ScalarType::Int && bias->numel() == sizes.columns),
                "quantized_matmul: expected a bias of int32 of each column, or none");
  const int32_t* added = bias.has_value() ? bias->const_data_ptr<int32_t>() : nullptr;
  const bool is_known = with_types_of_weights(X, Y, [&](auto type, auto right) {
    using T = decltype(type);
    multiply(sizes, X.const_data_ptr<T>(), X_zero_point, Y.const_data_ptr<decltype(right)>(),
             Y_zero_point, added, transposed,
             Quantizer::of_factor<T>(scale_of(out_multiplier, out_shift), out_zero_point),
             out.mutable_data_ptr<T>());
  });
  CADENCE_CHECK(is_known, "quantized_matmul: expected int8, uint8 or int16, int8 beside int16");
  return out;
}

// ---- Of floats ----

Tensor& fully_connected_out(KernelRuntimeContext& context, const Tensor& input,
                            const Tensor& weight, const executorch::aten::optional<Tensor>& bias,
                            Tensor& out) {
  CADENCE_CHECK(
      input.scalar_type() == ScalarType::Float && weight.scalar_type() == ScalarType::Float &&
          out.scalar_type() == ScalarType::Float && are_linear(input, weight) &&
          (!bias.has_value() ||
           (bias->scalar_type() == ScalarType::Float && bias->numel() == weight.size(0))) &&
          take_linear_size(input, weight, out),
      "fully_connected: expected float32, weights [outputs, inputs], a bias of each");
  const ssize_t inputs = weight.size(1), outputs = weight.size(0);
  const float* from = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    const float* row = from + i / outputs * inputs;
    const float* weights = weight.const_data_ptr<float>() + i % outputs * inputs;
    float total = bias.has_value() ? bias->const_data_ptr<float>()[i % outputs] : 0;
    for (ssize_t k = 0; k < inputs; ++k) {
      total += row[k] * weights[k];
    }
    to[i] = total;
  }
  return out;
}

}  // namespace impl::generic::native
