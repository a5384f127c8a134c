// SPDX-License-Identifier: BSD-3-Clause
// float32 to stored values and back; relu of stored values.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/common.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  CADENCE_CHECK(input.scalar_type() == ScalarType::Float && out.scalar_type() == dtype,
                "quantize_per_tensor: expected float32, and an output of `dtype`");
  CADENCE_CHECK(is_contiguous(input) && take_size(out, input.sizes()),
                "quantize_per_tensor: expected contiguous tensors of one size");
  const bool is_known = with_stored_type(dtype, [&](auto type) {
    using T = decltype(type);
    Storing store = Storing::whole<T>(1.0f / static_cast<float>(scale), zero_point);
    store.least = std::fmax(store.least, static_cast<float>(quant_min));
    store.largest = std::fmin(store.largest, static_cast<float>(quant_max));
    const float* from = input.const_data_ptr<float>();
    T* to = out.mutable_data_ptr<T>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = store.operator()<T>(from[i]);
    }
  });
  CADENCE_CHECK(is_known, "quantize_per_tensor: expected int8, uint8 or int16");
  return out;
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t /*quant_min*/, int64_t /*quant_max*/,
                                  ScalarType dtype, Tensor& out) {
  CADENCE_CHECK(input.scalar_type() == dtype && out.scalar_type() == ScalarType::Float,
                "dequantize_per_tensor: expected an input of `dtype`, and an output of float32");
  CADENCE_CHECK(is_contiguous(input) && take_size(out, input.sizes()),
                "dequantize_per_tensor: expected contiguous tensors of one size");
  const bool is_known = with_stored_type(dtype, [&](auto type) {
    using T = decltype(type);
    const T* from = input.const_data_ptr<T>();
    float* to = out.mutable_data_ptr<float>();
    for (ssize_t i = 0; i < out.numel(); ++i) {
      to[i] = static_cast<float>(from[i] - static_cast<int32_t>(zero_point)) *
              static_cast<float>(scale);
    }
  });
  CADENCE_CHECK(is_known, "dequantize_per_tensor: expected int8, uint8 or int16");
  return out;
}

Tensor& quantized_relu_per_tensor_out(KernelRuntimeContext& context, const Tensor& X,
                                      int64_t X_zero_point, int64_t out_zero_point,
                                      int64_t out_multiplier, int64_t out_shift, Tensor& out) {
  CADENCE_CHECK(
      X.scalar_type() == out.scalar_type() && is_contiguous(X) && take_size(out, X.sizes()),
      "quantized_relu: expected contiguous tensors of one dtype and size");
  const bool is_known = with_stored_type(X.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Storing store = Storing::whole<T>(scale_of(out_multiplier, out_shift), out_zero_point);
    const T* from = X.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    const auto zero = static_cast<int32_t>(X_zero_point);
    for (ssize_t i = 0; i < out.numel(); ++i) {
      const int32_t above = from[i] > zero ? from[i] - zero : 0;
      to[i] = store.operator()<T>(static_cast<float>(above));
    }
  });
  CADENCE_CHECK(is_known, "quantized_relu: expected int8, uint8 or int16");
  return out;
}

}  // namespace impl::generic::native
