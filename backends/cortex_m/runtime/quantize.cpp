// SPDX-License-Identifier: BSD-3-Clause
// float32 to int8 or int16 and back.
#include <cmath>

#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/checks.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;
namespace runtime = executorch::runtime;

namespace {

// The values of `dtype` if it is int8 or int16, else none.
bool is_within(int64_t least, int64_t largest, ScalarType dtype) {
  const int64_t end = dtype == ScalarType::Char ? 128 : dtype == ScalarType::Short ? 32768 : 0;
  return -end <= least && least <= largest && largest < end;
}

template <typename T>
void quantize(const Tensor& input, float inverse, float zero_point, float least, float largest,
              Tensor& out) {
  const float* from = input.const_data_ptr<float>();
  T* to = out.mutable_data_ptr<T>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    const float steps = std::nearbyint(from[i] * inverse) + zero_point;
    const float bounded = steps < largest ? steps : largest;
    to[i] = static_cast<T>(bounded > least ? bounded : least);
  }
}

template <typename T>
void dequantize(const Tensor& input, float scale, int32_t zero_point, Tensor& out) {
  const T* from = input.const_data_ptr<T>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    to[i] = static_cast<float>(from[i] - zero_point) * scale;
  }
}

}  // namespace

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  CORTEX_M_CHECK(input.scalar_type() == ScalarType::Float && out.scalar_type() == dtype &&
                     is_within(quant_min, quant_max, dtype),
                 "quantize_per_tensor: expected float32, and limits within int8 or int16");
  CORTEX_M_CHECK(runtime::resize_tensor(out, input.sizes()) == runtime::Error::Ok &&
                     have_same_dim_order(input, out),
                 "quantize_per_tensor: expected an output of the input's size and memory order");
  const float inverse = 1.0f / static_cast<float>(scale);
  const auto write = dtype == ScalarType::Char ? quantize<int8_t> : quantize<int16_t>;
  write(input, inverse, static_cast<float>(zero_point), static_cast<float>(quant_min),
        static_cast<float>(quant_max), out);
  return out;
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                  ScalarType dtype, Tensor& out) {
  CORTEX_M_CHECK(
      out.scalar_type() == ScalarType::Float && input.scalar_type() == dtype &&
          is_within(quant_min, quant_max, dtype) && quant_min <= zero_point &&
          zero_point <= quant_max,
      "dequantize_per_tensor: expected int8 or int16, and a zero point within the limits");
  CORTEX_M_CHECK(runtime::resize_tensor(out, input.sizes()) == runtime::Error::Ok &&
                     have_same_dim_order(input, out),
                 "dequantize_per_tensor: expected an output of the input's size and memory order");
  const auto write = dtype == ScalarType::Char ? dequantize<int8_t> : dequantize<int16_t>;
  write(input, static_cast<float>(scale), static_cast<int32_t>(zero_point), out);
  return out;
}

}  // namespace cortex_m::native
