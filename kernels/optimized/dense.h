// SPDX-License-Identifier: BSD-3-Clause
// The question every optimized kernel asks first: is this a case for the fast path? What is not
// goes to the portable kernel, which also makes all error messages.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
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

// Memory order of the dimensions is `order` (null: as they are numbered), whatever a dim order says
// of dimensions of size 1.
inline bool lies_in_order(const Tensor& t, const int* order) {
  int64_t expected = 1;
  for (int64_t i = t.dim() - 1; i >= 0; --i) {
    const int64_t d = order != nullptr ? order[i] : i;
    if (t.size(d) != 1) {
      if (t.strides()[static_cast<size_t>(d)] != expected) {
        return false;
      }
      expected *= t.size(d);
    }
  }
  return true;
}

// Rows of the last dimension are contiguous, one after the other.
inline bool is_contiguous(const Tensor& t) {
  return lies_in_order(t, nullptr);
}

inline bool is_channels_last(const Tensor& t) {
  constexpr int kOrder[4] = {0, 2, 3, 1};
  return t.dim() == 4 && lies_in_order(t, kOrder);
}

inline bool is_dense_f32(const Tensor& t) {
  return is_f32(t) && is_contiguous(t);
}

inline bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes();
}

// Elements of both have the same order in memory.
inline bool same_layout(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && a.dim_order() == b.dim_order();
}

}  // namespace executorch::kernels::optimized
