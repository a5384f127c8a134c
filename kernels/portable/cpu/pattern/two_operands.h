// SPDX-License-Identifier: BSD-3-Clause
// What kernels of two operands begin with.
#pragma once

#include <functional>
#include <type_traits>

#include <executorch/kernels/portable/cpu/scalar_utils.h>
#include <executorch/kernels/portable/cpu/util/elementwise_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace internal {

/// What both promote to; fails the context, and gives Undefined, where dtypes have nothing in
/// common.
inline ScalarType common_type(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b) {
  const bool has_common = ::executorch::runtime::tensor_is_realhbbf16_type(a) &&
                          ::executorch::runtime::tensor_is_realhbbf16_type(b);
  ET_KERNEL_CHECK(ctx, has_common, InvalidArgument, ScalarType::Undefined);
  return promoteTypes(a.scalar_type(), b.scalar_type());
}

/// The output takes the common shape and has the inputs' dim order.
inline bool prepare_out(const Tensor& a, const Tensor& b, Tensor& out) {
  return tensors_have_same_dim_order(a, b, out) &&
         resize_to_broadcast_target_size(a, b, out) == Error::Ok;
}

}  // namespace internal
}  // namespace native
}  // namespace executor
}  // namespace torch
