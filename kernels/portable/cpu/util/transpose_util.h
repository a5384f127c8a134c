// SPDX-License-Identifier: BSD-3-Clause
// Two dimensions change places.
#pragma once

#include <utility>

#include <executorch/kernels/portable/cpu/util/broadcast_indexes_range.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// out[.., j, .., i, ..] = a[.., i, .., j, ..]; `out` has the sizes already.
template <typename T>
void transpose_tensors(const Tensor& a, int64_t dim0, int64_t dim1, Tensor& out) {
  const T* const from = a.const_data_ptr<T>();
  T* const to = out.mutable_data_ptr<T>();
  const size_t rank = static_cast<size_t>(a.dim());
  if (rank == 0) {
    to[0] = from[0];
    return;
  }
  size_t strides[kTensorDimensionLimit];
  for (size_t d = 0; d < rank; ++d) {
    strides[d] = a.strides().empty() ? getTrailingDims(a, static_cast<int64_t>(d))
                                     : static_cast<size_t>(a.strides()[d]);
  }
  std::swap(strides[ET_NORMALIZE_IX(dim0, a.dim())], strides[ET_NORMALIZE_IX(dim1, a.dim())]);
  for (ssize_t i = 0; i < out.numel(); ++i) {
    size_t coordinate[kTensorDimensionLimit];
    indexToCoordinate(out, static_cast<size_t>(i), coordinate);
    size_t position = 0;
    for (size_t d = 0; d < rank; ++d) {
      position += coordinate[d] * strides[d];
    }
    to[i] = from[position];
  }
}

inline bool check_t_copy_args(const Tensor& in, Tensor& out) {
  return tensors_have_same_dtype(in, out) && tensor_has_rank_smaller_or_equal_to(in, 2);
}

inline bool check_transpose_copy_args(const Tensor& in, int64_t dim0, int64_t dim1, Tensor& out) {
  return tensors_have_same_dtype(in, out) && tensor_has_dim(in, dim0) && tensor_has_dim(in, dim1);
}

inline void get_transpose_out_target_size(const Tensor& in, Tensor::SizesType dim0,
                                          Tensor::SizesType dim1, Tensor::SizesType* out_sizes,
                                          size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(in.dim());
  for (size_t d = 0; d < *out_ndim; ++d) {
    out_sizes[d] = in.sizes()[d];
  }
  if (in.dim() > 0) {
    std::swap(out_sizes[ET_NORMALIZE_IX(dim0, static_cast<Tensor::SizesType>(in.dim()))],
              out_sizes[ET_NORMALIZE_IX(dim1, static_cast<Tensor::SizesType>(in.dim()))]);
  }
}

}  // namespace executor
}  // namespace torch
