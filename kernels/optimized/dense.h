// SPDX-License-Identifier: BSD-3-Clause
// The question every optimized kernel asks first: is this a case for the fast path? What is not
// goes to the portable kernel, which also makes all error messages.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch::kernels::optimized {

using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

inline bool is_f32(const Tensor& t) {
  return t.scalar_type() == ScalarType::Float;
}

// Rows of the last dimension lie one after the other.
inline bool is_contiguous(const Tensor& t) {
  return executorch::runtime::is_contiguous_dim_order(t.dim_order().data(), t.dim_order().size());
}

inline bool is_channels_last(const Tensor& t) {
  return t.dim() == 4 && executorch::runtime::is_channels_last_dim_order(t.dim_order().data(),
                                                                         t.dim_order().size());
}

inline bool is_dense_f32(const Tensor& t) {
  return is_f32(t) && is_contiguous(t);
}

inline bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes();
}

// Elements of both lie in the same order in memory.
inline bool same_layout(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && a.dim_order() == b.dim_order();
}

}  // namespace executorch::kernels::optimized
