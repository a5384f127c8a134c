// SPDX-License-Identifier: BSD-3-Clause
// Two custom operators: every element of a float tensor times three, and times four.
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom::native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

Tensor& times(KernelRuntimeContext& ctx, const Tensor& input, float factor, Tensor& output) {
  ET_KERNEL_CHECK_MSG(
      ctx, input.scalar_type() == ScalarType::Float && output.scalar_type() == ScalarType::Float,
      InvalidArgument, output, "expected tensors of floats, found dtypes %d and %d",
      static_cast<int>(input.scalar_type()), static_cast<int>(output.scalar_type()));
  ET_KERNEL_CHECK_MSG(ctx, resize_tensor(output, input.sizes()) == Error::Ok, InvalidArgument,
                      output, "the output cannot take the %zd sizes of the input",
                      static_cast<ssize_t>(input.dim()));
  const float* from = input.const_data_ptr<float>();
  float* to = output.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < input.numel(); ++i) {
    to[i] = factor * from[i];
  }
  return output;
}

}  // namespace

Tensor& mul3_out_impl(KernelRuntimeContext& ctx, const Tensor& input, Tensor& output) {
  return times(ctx, input, 3, output);
}

Tensor& mul4_out_impl(KernelRuntimeContext& ctx, const Tensor& input, Tensor& output) {
  return times(ctx, input, 4, output);
}

}  // namespace custom::native
