// SPDX-License-Identifier: BSD-3-Clause
// float32 to stored values and back; sums, products and limits of them, element by element.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/quantized_values.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;
using executorch::aten::Scalar;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  CADENCE_CHECK(input.scalar_type() == ScalarType::Float && out.scalar_type() == dtype,
                "quantize_per_tensor: expected float32, and an output of `dtype`");
  CADENCE_CHECK(take_size_of(out, input),
                "quantize_per_tensor: expected contiguous tensors of one size");
  const bool is_known = with_wide_type(dtype, [&](auto type) {
    using T = decltype(type);
    Quantizer store = Quantizer::of_scale<T>(scale, zero_point);
    store.least = std::fmax(store.least, static_cast<double>(quant_min));
    store.largest = std::fmin(store.largest, static_cast<double>(quant_max));
    const float* from = input.const_data_ptr<float>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = store.operator()<T>(from[i]);
    }
  });
  CADENCE_CHECK(is_known, "quantize_per_tensor: expected an integer dtype up to int32");
  return out;
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t /*quant_min*/, int64_t /*quant_max*/,
                                  ScalarType dtype, Tensor& out) {
  CADENCE_CHECK(input.scalar_type() == dtype && out.scalar_type() == ScalarType::Float,
                "dequantize_per_tensor: expected an input of `dtype`, and an output of float32");
  CADENCE_CHECK(take_size_of(out, input),
                "dequantize_per_tensor: expected contiguous tensors of one size");
  const Scaled real{static_cast<float>(scale), zero_point};
  const bool is_known = with_wide_type(dtype, [&](auto type) {
    using T = decltype(type);
    const T* from = input.const_data_ptr<T>();
    float* to = out.mutable_data_ptr<float>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = real(from[i]);
    }
  });
  CADENCE_CHECK(is_known, "dequantize_per_tensor: expected an integer dtype up to int32");
  return out;
}

Tensor& requantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input,
                                  double in_scale, int64_t in_zero_point, double out_scale,
                                  int64_t out_zero_point, ScalarType out_dtype, Tensor& out) {
  CADENCE_CHECK(out.scalar_type() == out_dtype && take_size_of(out, input),
                "requantize: expected contiguous tensors of one size, an output of `out_dtype`");
  const Scaled real{static_cast<float>(in_scale), in_zero_point};
  const bool is_known = with_wide_type(input.scalar_type(), [&](auto type) {
    const auto* from = input.const_data_ptr<decltype(type)>();
    with_wide_type(out_dtype, [&](auto into) {
      using T = decltype(into);
      const Quantizer store = Quantizer::of_scale<T>(out_scale, out_zero_point);
      T* to = out.mutable_data_ptr<T>();
      for (ssize_t i = 0; i < out.numel(); ++i) {
        to[i] = store.operator()<T>(real(from[i]));
      }
    });
  });
  CADENCE_CHECK(is_known, "requantize: expected integer dtypes up to int32");
  return out;
}

Tensor& requantize_out(KernelRuntimeContext& context, const Tensor& input, const Tensor& in_scale,
                       const Tensor& in_zero_point, const Tensor& out_scale,
                       const Tensor& out_zero_point, ScalarType out_dtype, Tensor& out) {
  CADENCE_CHECK(has_number(in_scale) && has_integers(in_zero_point, 1) && has_number(out_scale) &&
                    has_integers(out_zero_point, 1),
                "requantize: expected tensors of one scale in float32 and of one zero point");
  return requantize_per_tensor_out(context, input, number_of(in_scale),
                                   integer_at(in_zero_point, 0), number_of(out_scale),
                                   integer_at(out_zero_point, 0), out_dtype, out);
}

Tensor& quantized_relu_per_tensor_out(KernelRuntimeContext& context, const Tensor& X,
                                      int64_t X_zero_point, int64_t out_zero_point,
                                      int64_t out_multiplier, int64_t out_shift, Tensor& out) {
  CADENCE_CHECK(X.scalar_type() == out.scalar_type() && take_size_of(out, X),
                "quantized_relu: expected contiguous tensors of one dtype and size");
  const bool is_known = with_integer_type(X.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Quantizer store =
        Quantizer::of_factor<T>(scale_of(out_multiplier, out_shift), out_zero_point);
    const T* from = X.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      const int64_t above = from[i] > X_zero_point ? from[i] - X_zero_point : 0;
      to[i] = store.operator()<T>(static_cast<float>(above));
    }
  });
  CADENCE_CHECK(is_known, "quantized_relu: expected int8, uint8 or int16");
  return out;
}

Tensor& quantized_relu_out(KernelRuntimeContext& context, const Tensor& X,
                           const Tensor& X_zero_point, int64_t out_zero_point,
                           const Tensor& out_multiplier, const Tensor& out_shift, Tensor& out) {
  CADENCE_CHECK(has_integers(X_zero_point, 1) && has_integers(out_multiplier, 1) &&
                    has_integers(out_shift, 1),
                "quantized_relu: expected a zero point, a multiplier and a shift of one value");
  return quantized_relu_per_tensor_out(context, X, integer_at(X_zero_point, 0), out_zero_point,
                                       integer_at(out_multiplier, 0), integer_at(out_shift, 0),
                                       out);
}

// ---- Of two tensors ----

namespace {

// Which element of an operand an element of the output reads: 0 along what it is broadcast over.
struct Broadcast {
  ssize_t rank = 0;
  ssize_t sizes[kTensorDimensionLimit];
  ssize_t strides[kTensorDimensionLimit];

  Broadcast(const Tensor& operand, const Tensor& out) : rank(out.dim()) {
    ssize_t stride = 1;
    for (ssize_t i = rank - 1, j = operand.dim() - 1; i >= 0; --i, --j) {
      const ssize_t size = j < 0 ? 1 : operand.size(j);
      sizes[i] = out.size(i);
      strides[i] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  ssize_t operator()(ssize_t element) const {
    ssize_t place = 0;
    for (ssize_t i = rank - 1; i >= 0; --i) {
      place += element % sizes[i] * strides[i];
      element /= sizes[i];
    }
    return place;
  }
};

bool take_broadcast_size(const Tensor& X, const Tensor& Y, Tensor& out) {
  Sizes sizes;
  const ssize_t rank = X.dim() > Y.dim() ? X.dim() : Y.dim();
  for (ssize_t i = 0; i < rank; ++i) {
    const ssize_t x = i - rank + X.dim(), y = i - rank + Y.dim();
    const ssize_t of_x = x < 0 ? 1 : X.size(x), of_y = y < 0 ? 1 : Y.size(y);
    if (of_x != of_y && of_x != 1 && of_y != 1) {
      return false;
    }
    sizes.add(of_x == 1 ? of_y : of_x);
  }
  return is_contiguous(X) && is_contiguous(Y) && sizes.take(out);
}

struct Operand {
  const Tensor& values;
  Scaled real;
};

template <typename Compute>
Tensor& of_two(KernelRuntimeContext& context, const char* name, const Operand& X, const Operand& Y,
               double out_scale, int64_t out_zero_point, Tensor& out, Compute&& compute) {
  const ScalarType dtype = X.values.scalar_type();
  CADENCE_CHECK(Y.values.scalar_type() == dtype && out.scalar_type() == dtype &&
                    take_broadcast_size(X.values, Y.values, out),
                "%s: expected contiguous tensors of one dtype whose sizes broadcast", name);
  const Broadcast of_x(X.values, out), of_y(Y.values, out);
  const bool is_known = with_integer_type(dtype, [&](auto type) {
    using T = decltype(type);
    const Quantizer store = Quantizer::of_scale<T>(out_scale, out_zero_point);
    const T* x = X.values.const_data_ptr<T>();
    const T* y = Y.values.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = store.operator()<T>(compute(X.real(x[of_x(i)]), Y.real(y[of_y(i)])));
    }
  });
  CADENCE_CHECK(is_known, "%s: expected int8, uint8 or int16", name);
  return out;
}

template <typename Compute>
Tensor& with_number(KernelRuntimeContext& context, const char* name, const Operand& X,
                    const Scalar& Y, double out_scale, int64_t out_zero_point, Tensor& out,
                    Compute&& compute) {
  CADENCE_CHECK(X.values.scalar_type() == out.scalar_type() && take_size_of(out, X.values),
                "%s: expected contiguous tensors of one dtype and size", name);
  const auto y = Y.isFloatingPoint() ? static_cast<float>(Y.to<double>())
                                     : static_cast<float>(Y.to<int64_t>());
  const bool is_known = with_integer_type(out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Quantizer store = Quantizer::of_scale<T>(out_scale, out_zero_point);
    const T* x = X.values.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = store.operator()<T>(compute(X.real(x[i]), y));
    }
  });
  CADENCE_CHECK(is_known, "%s: expected int8, uint8 or int16", name);
  return out;
}

float add(float x, float y) {
  return x + y;
}
float mul(float x, float y) {
  return x * y;
}

bool says_scale(const Tensor& scale, const Tensor& zero_point) {
  return has_number(scale) && has_integers(zero_point, 1);
}

}  // namespace

// The operators of one computation: numbers as numbers, as tensors, and with a number as Y.
#define CADENCE_OF_TWO(NAME, COMPUTE)                                                              \
  Tensor& quantized_##NAME##_per_tensor_out(                                                       \
      KernelRuntimeContext& context, const Tensor& X, double X_scale, int64_t X_zero_point,        \
      const Tensor& Y, double Y_scale, int64_t Y_zero_point, double out_scale,                     \
      int64_t out_zero_point, Tensor& out) {                                                       \
    return of_two(context, "quantized_" #NAME, {X, {static_cast<float>(X_scale), X_zero_point}},   \
                  {Y, {static_cast<float>(Y_scale), Y_zero_point}}, out_scale, out_zero_point,     \
                  out, COMPUTE);                                                                   \
  }                                                                                                \
  Tensor& quantized_##NAME##_out(                                                                  \
      KernelRuntimeContext& context, const Tensor& X, const Tensor& X_scale,                       \
      const Tensor& X_zero_point, const Tensor& Y, const Tensor& Y_scale,                          \
      const Tensor& Y_zero_point, double out_scale, int64_t out_zero_point, Tensor& out) {         \
    CADENCE_CHECK(says_scale(X_scale, X_zero_point) && says_scale(Y_scale, Y_zero_point),          \
                  "quantized_" #NAME ": expected tensors of one scale and of one zero point");     \
    return quantized_##NAME##_per_tensor_out(                                                      \
        context, X, number_of(X_scale), integer_at(X_zero_point, 0), Y, number_of(Y_scale),        \
        integer_at(Y_zero_point, 0), out_scale, out_zero_point, out);                              \
  }                                                                                                \
  Tensor& quantized_##NAME##_Scalar_out(KernelRuntimeContext& context, const Tensor& X,            \
                                        const Tensor& X_scale, const Tensor& X_zero_point,         \
                                        const Scalar& Y, double out_scale, int64_t out_zero_point, \
                                        Tensor& out) {                                             \
    CADENCE_CHECK(says_scale(X_scale, X_zero_point),                                               \
                  "quantized_" #NAME "_Scalar: expected tensors of one scale, one zero point");    \
    return with_number(context, "quantized_" #NAME "_Scalar",                                      \
                       {X, {number_of(X_scale), integer_at(X_zero_point, 0)}}, Y, out_scale,       \
                       out_zero_point, out, COMPUTE);                                              \
  }

CADENCE_OF_TWO(add, add)
CADENCE_OF_TWO(mul, mul)

Tensor& where_Scalar_out(KernelRuntimeContext& context, const Tensor& condition, double self,
                         double other, Tensor& out) {
  CADENCE_CHECK(condition.scalar_type() == ScalarType::Bool &&
                    out.scalar_type() == ScalarType::Float && take_size_of(out, condition),
                "where_Scalar: expected a condition of bool, an output of float32 of its size");
  const bool* holds = condition.const_data_ptr<bool>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    to[i] = static_cast<float>(holds[i] ? self : other);
  }
  return out;
}

}  // namespace impl::generic::native
