// SPDX-License-Identifier: BSD-3-Clause
// Copies between orders of dimensions. The output's strides are those of the plan; PyTorch copies
// into any.
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "NativeFunctions.h"

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

// Resizes within the plan, then copies.
Tensor& copy_to(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  const Error error = executorch::runtime::resize_tensor(out, self.sizes());
  ET_KERNEL_CHECK(context, error == Error::Ok, InvalidArgument, out);
  out.copy_(self);
  return out;
}

}  // namespace

Tensor& _empty_dim_order_out(KernelRuntimeContext& context, IntArrayRef size,
                             std::optional<IntArrayRef> /*dim_order*/, Tensor& out) {
  const Error error = executorch::runtime::resize_tensor(out, size);
  ET_KERNEL_CHECK(context, error == Error::Ok, InvalidArgument, out);
  return out;
}

Tensor& _to_dim_order_copy_out(KernelRuntimeContext& context, const Tensor& self,
                               bool /*non_blocking*/, std::optional<IntArrayRef> /*dim_order*/,
                               Tensor& out) {
  return copy_to(context, self, out);
}

Tensor& _clone_dim_order_out(KernelRuntimeContext& context, const Tensor& self,
                             bool /*non_blocking*/, std::optional<IntArrayRef> /*dim_order*/,
                             Tensor& out) {
  return copy_to(context, self, out);
}

}  // namespace torch::executor::native
