// SPDX-License-Identifier: BSD-3-Clause
// quantized_mul: the product of two int8 tensors, each with a zero point, at the scale of the
// result.
#include <algorithm>
#include <cmath>

#include <executorch/backends/skeleton_kernels/CustomOpsNativeFunctions.h>
#include <executorch/backends/skeleton_kernels/runtime/checks.h>

namespace executorch::backends::skeleton_kernels::native {

aten::Tensor& quantized_mul_out(runtime::KernelRuntimeContext& context, const aten::Tensor& x,
                                int64_t x_zero_point, const aten::Tensor& y, int64_t y_zero_point,
                                double scale, int64_t out_zero_point, aten::Tensor& out) {
  if (!check_elementwise(context, "skeleton_kernels::quantized_mul", aten::ScalarType::Char, x, y,
                         out)) {
    return out;
  }
  const int8_t* left = x.const_data_ptr<int8_t>();
  const int8_t* right = y.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    const double product =
        static_cast<double>(left[i] - x_zero_point) * static_cast<double>(right[i] - y_zero_point);
    const double rounded = std::nearbyint(product * scale) + static_cast<double>(out_zero_point);
    to[i] = static_cast<int8_t>(std::clamp(rounded, -128.0, 127.0));
  }
  return out;
}

}  // namespace executorch::backends::skeleton_kernels::native
