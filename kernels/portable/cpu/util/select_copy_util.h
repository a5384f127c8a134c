// SPDX-License-Identifier: BSD-3-Clause
// One index of a dimension: the kernel of aten::select_copy without a context. Link
// portable_kernels.
#pragma once

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

ET_NODISCARD inline Error select_copy_util(const Tensor& in, int64_t dim, int64_t index,
                                           Tensor& out) {
  KernelRuntimeContext ctx;
  native::select_copy_int_out(ctx, in, dim, index, out);
  return ctx.failure_state();
}

}  // namespace executor
}  // namespace torch
