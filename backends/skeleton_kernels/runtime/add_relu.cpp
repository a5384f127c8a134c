// SPDX-License-Identifier: BSD-3-Clause
// add_relu: max(x + y, 0) of float32; a NaN stays one.
#include <executorch/backends/skeleton_kernels/CustomOpsNativeFunctions.h>
#include <executorch/backends/skeleton_kernels/runtime/checks.h>

namespace executorch::backends::skeleton_kernels::native {

aten::Tensor& add_relu_out(runtime::KernelRuntimeContext& context, const aten::Tensor& x,
                           const aten::Tensor& y, aten::Tensor& out) {
  if (!check_elementwise(context, "skeleton_kernels::add_relu", aten::ScalarType::Float, x, y,
                         out)) {
    return out;
  }
  const float* left = x.const_data_ptr<float>();
  const float* right = y.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    const float sum = left[i] + right[i];
    to[i] = sum <= 0.0f ? 0.0f : sum;
  }
  return out;
}

}  // namespace executorch::backends::skeleton_kernels::native
