// SPDX-License-Identifier: BSD-3-Clause
// Kernels that combine truth values: what is not zero is true.
#pragma once

#include <executorch/kernels/portable/cpu/pattern/two_operands.h>

namespace torch {
namespace executor {
namespace native {
namespace internal {

template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& logical_tensor_out(bool (*fn)(bool, bool), KernelRuntimeContext& ctx, const Tensor& a,
                           const Tensor& b, Tensor& out) {
  constexpr auto kAny = utils::SupportedTensorDtypes::REALHBBF16;
  ET_KERNEL_CHECK(ctx, prepare_out(a, b, out), InvalidArgument, out);
  utils::apply_bitensor_elementwise_fn<bool, op_name>(fn, ctx, a, kAny, b, kAny, out, kAny);
  return out;
}

}  // namespace internal
}  // namespace native
}  // namespace executor
}  // namespace torch
