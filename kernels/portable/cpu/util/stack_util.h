// SPDX-License-Identifier: BSD-3-Clause
// The shape and the kernel of aten::stack. Link portable_kernels.
#pragma once

#include <array>
#include <tuple>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace utils {

/// InvalidArgument unless there is a tensor, `dim` exists in the result, and all shapes are one.
inline std::tuple<Error, std::array<Tensor::SizesType, kTensorDimensionLimit>, size_t>
stack_out_shape(TensorList tensors, int64_t dim) {
  std::array<Tensor::SizesType, kTensorDimensionLimit> sizes{};
  size_t rank = 0;
  bool is_valid = tensors.size() > 0 && dim_is_valid(dim, tensors[0].dim() + 1) &&
                  tensors[0].dim() < static_cast<ssize_t>(kTensorDimensionLimit);
  for (size_t i = 1; is_valid && i < tensors.size(); ++i) {
    is_valid = tensor_has_expected_size(tensors[i], tensors[0].sizes());
  }
  if (!is_valid) {
    return {Error::InvalidArgument, sizes, rank};
  }
  get_stack_out_target_size(tensors, dim, sizes.data(), &rank);
  return {Error::Ok, sizes, rank};
}

inline Tensor& stack_out_impl(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim,
                              Tensor& out) {
  return stack_out(ctx, tensors, dim, out);
}

}  // namespace utils
}  // namespace native
}  // namespace executor
}  // namespace torch
