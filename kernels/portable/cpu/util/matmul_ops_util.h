// SPDX-License-Identifier: BSD-3-Clause
// Checks, shapes and a plain loop of matmuls.
#pragma once

#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/kernels/portable/cpu/vec_ops.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

inline bool check_mm_args(const Tensor& in, const Tensor& mat2, Tensor& out) {
  return tensor_is_rank(in, 2) && tensor_is_rank(mat2, 2) && tensor_is_rank(out, 2) &&
         tensors_have_same_dtype(in, mat2, out) && tensors_have_same_size_at_dims(in, 1, mat2, 0);
}
inline void get_mm_out_target_size(const Tensor& mat1, const Tensor& mat2,
                                   Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = 2;
  out_sizes[0] = static_cast<Tensor::SizesType>(mat1.size(0));
  out_sizes[1] = static_cast<Tensor::SizesType>(mat2.size(1));
}

inline bool check_addmm_args(const Tensor& in, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha, Tensor& out) {
  (void)beta;  // any factors will do
  (void)alpha;
  return check_mm_args(mat1, mat2, out) && tensors_have_same_dtype(in, mat1);
}

inline bool check_bmm_args(const Tensor& in, const Tensor& mat2, Tensor& out) {
  return tensor_is_rank(in, 3) && tensor_is_rank(mat2, 3) && tensor_is_rank(out, 3) &&
         tensors_have_same_dtype(in, mat2, out) && tensors_have_same_size_at_dims(in, 0, mat2, 0) &&
         tensors_have_same_size_at_dims(in, 2, mat2, 1);
}
inline void get_bmm_out_target_size(const Tensor& mat1, const Tensor& mat2,
                                    Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = 3;
  out_sizes[0] = static_cast<Tensor::SizesType>(mat1.size(0));
  out_sizes[1] = static_cast<Tensor::SizesType>(mat1.size(1));
  out_sizes[2] = static_cast<Tensor::SizesType>(mat2.size(2));
}

/// `mat2` has a row for each output, as torch.nn.Linear has it.
inline bool check_linear_args(const Tensor& in, const Tensor& mat2, Tensor& out) {
  if (!tensor_has_rank_greater_or_equal_to(in, 1) || !tensor_is_rank(mat2, 2) ||
      !tensors_have_same_rank(in, out) || !tensors_have_same_dtype(in, mat2, out)) {
    return false;
  }
  return tensors_have_same_size_at_dims(in, static_cast<size_t>(in.dim() - 1), mat2, 1);
}
inline void get_linear_out_target_size(const Tensor& mat1, const Tensor& mat2,
                                       Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(mat1.dim());
  for (ssize_t d = 0; d + 1 < mat1.dim(); ++d) {
    out_sizes[d] = static_cast<Tensor::SizesType>(mat1.size(d));
  }
  out_sizes[mat1.dim() - 1] = static_cast<Tensor::SizesType>(mat2.size(0));
}

namespace internal {

/// One matmul for each batch; row-major, shapes checked.
template <typename CTYPE>
void bmm_out_impl(const Tensor& in, const Tensor& mat2, Tensor& out) {
  const int64_t batches = in.size(0), m = in.size(1), n = in.size(2), p = mat2.size(2);
  for (int64_t i = 0; i < batches; ++i) {
    vec_matmul<CTYPE>(out.mutable_data_ptr<CTYPE>() + i * m * p,
                      in.const_data_ptr<CTYPE>() + i * m * n,
                      mat2.const_data_ptr<CTYPE>() + i * n * p, m, n, p);
  }
}

}  // namespace internal
}  // namespace executor
}  // namespace torch
