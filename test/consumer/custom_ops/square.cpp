// SPDX-License-Identifier: BSD-3-Clause
// An operator of a user's: my_ops::square.out, of float tensors.
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

namespace {

Tensor& square_out(KernelRuntimeContext& context, const Tensor& input, Tensor& out) {
  if (executorch::runtime::resize_tensor(out, input.sizes()) != executorch::runtime::Error::Ok) {
    context.fail(executorch::runtime::Error::InvalidArgument);
    return out;
  }
  for (ssize_t i = 0; i < input.numel(); ++i) {
    const float x = input.const_data_ptr<float>()[i];
    out.mutable_data_ptr<float>()[i] = x * x;
  }
  return out;
}

EXECUTORCH_LIBRARY(my_ops, "square.out", square_out);

}  // namespace
