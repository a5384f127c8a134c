// SPDX-License-Identifier: BSD-3-Clause
// The size and the kernel of aten::arange. Link portable_kernels.
#pragma once

#include <cmath>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

/// How many numbers lie in [start, end) by `step`, which is not 0 and leads there.
inline Tensor::SizesType compute_arange_out_size(double start, double end, double step) {
  const auto size = static_cast<Tensor::SizesType>(std::ceil((end - start) / step));
  ET_CHECK_MSG(size >= 0, "no numbers from %f to %f by %f", start, end, step);
  return size;
}
inline Tensor::SizesType compute_arange_out_size(double end) {
  return compute_arange_out_size(0.0, end, 1.0);
}

/// Resizes `out` and fills it.
inline void arange_out_impl(KernelRuntimeContext& ctx, double start, double end, double step,
                            Tensor& out) {
  arange_start_out(ctx, Scalar(start), Scalar(end), Scalar(step), out);
}
inline void arange_out_impl(double start, double end, double step, Tensor& out) {
  KernelRuntimeContext ctx;
  arange_out_impl(ctx, start, end, step, out);
}
inline void arange_out_impl(KernelRuntimeContext& ctx, double end, Tensor& out) {
  arange_out_impl(ctx, 0.0, end, 1.0, out);
}
inline void arange_out_impl(double end, Tensor& out) {
  arange_out_impl(0.0, end, 1.0, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
