// SPDX-License-Identifier: BSD-3-Clause
// What each kernel asks of its tensors before it writes.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch::backends::skeleton_kernels {

// Whether x, y and out have one dtype and one memory order, and out could take the size of x, which
// is that of y. If not, the context has the error.
inline bool check_elementwise(runtime::KernelRuntimeContext& context, const char* name,
                              aten::ScalarType dtype, const aten::Tensor& x, const aten::Tensor& y,
                              aten::Tensor& out) {
  const bool have_dtype =
      x.scalar_type() == dtype && y.scalar_type() == dtype && out.scalar_type() == dtype;
  ET_KERNEL_CHECK_MSG(context, have_dtype, InvalidArgument, false, "%s: expected tensors of %s",
                      name, runtime::toString(dtype));
  ET_KERNEL_CHECK_MSG(context, x.sizes() == y.sizes(), InvalidArgument, false,
                      "%s: expected x and y of one size", name);
  ET_KERNEL_CHECK_MSG(context, runtime::resize_tensor(out, x.sizes()) == runtime::Error::Ok,
                      InvalidArgument, false, "%s: expected an output of the size of x", name);
  ET_KERNEL_CHECK_MSG(context, runtime::tensors_have_same_dim_order(x, y, out), InvalidArgument,
                      false, "%s: expected one memory order of x, y and out", name);
  return true;
}

}  // namespace executorch::backends::skeleton_kernels
