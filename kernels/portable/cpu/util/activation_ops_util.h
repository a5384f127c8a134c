// SPDX-License-Identifier: BSD-3-Clause
// Checks of activations.
#pragma once

#include <string_view>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

inline bool check_gelu_args(const Tensor& in, std::string_view approximate, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(approximate == "tanh" || approximate == "none",
                           "approximate is neither tanh nor none");
  return tensors_have_same_dtype(in, out) && tensor_is_floating_type(in);
}

inline bool check_glu_args(const Tensor& in, int64_t dim, Tensor& out) {
  if (!tensor_has_rank_greater_or_equal_to(in, 1) || !tensor_has_dim(in, dim) ||
      !tensor_is_floating_type(in) || !tensor_is_floating_type(out)) {
    return false;
  }
  const ssize_t size = in.size(static_cast<ssize_t>(ET_NORMALIZE_IX(dim, in.dim())));
  ET_CHECK_OR_RETURN_FALSE(size % 2 == 0, "size %zd cannot be halved", size);
  return true;
}

inline bool check_log_softmax_args(const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(!half_to_float, "half to float is not supported on a CPU");
  return tensors_have_same_dtype(in, out) && tensor_is_floating_type(in) &&
         tensor_has_dim(in, dim) && tensor_is_default_or_channels_last_dim_order(in);
}

inline bool check_softmax_args(const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  return check_log_softmax_args(in, dim, half_to_float, out);
}

/// Half the size along `dim`.
inline Error resize_glu_out(const Tensor& in, int64_t dim, Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (ssize_t d = 0; d < in.dim(); ++d) {
    sizes[d] = static_cast<Tensor::SizesType>(in.size(d));
  }
  sizes[ET_NORMALIZE_IX(dim, in.dim())] /= 2;
  return resize_tensor(out, {sizes, static_cast<size_t>(in.dim())});
}

}  // namespace executor
}  // namespace torch
