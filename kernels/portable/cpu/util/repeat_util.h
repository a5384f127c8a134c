// SPDX-License-Identifier: BSD-3-Clause
// Tiles of a tensor: the kernel of aten::repeat without a context. Link portable_kernels.
#pragma once

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// Resizes `out` and fills it with `repeats` copies of `in` along each dimension.
ET_NODISCARD inline Error repeat_tensor(const Tensor& in, ArrayRef<int64_t> repeats, Tensor& out) {
  KernelRuntimeContext ctx;
  native::repeat_out(ctx, in, repeats, out);
  return ctx.failure_state();
}

}  // namespace executor
}  // namespace torch
