// SPDX-License-Identifier: BSD-3-Clause
// add and sub as one function. Link a library of kernels.
#pragma once

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace kernels {
namespace impl {

/// out = a + alpha b, or a - alpha b: the kernels of aten::add.out and aten::sub.out.
template <bool is_sub, const char* op_name>
Tensor& opt_add_sub_out_impl(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                             const Scalar& alpha, Tensor& out) {
  return is_sub ? native::sub_out(ctx, a, b, alpha, out) : native::add_out(ctx, a, b, alpha, out);
}

}  // namespace impl
}  // namespace kernels
}  // namespace executor
}  // namespace torch
