// SPDX-License-Identifier: BSD-3-Clause
// Checks of operators that take indices.
#pragma once

#include <executorch/kernels/portable/cpu/scalar_utils.h>
#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace internal {

/// Whether every index counts an element along `dim` of `tensor`.
inline bool indices_are_within(const Tensor& index, const Tensor& tensor, int64_t dim) {
  const int64_t size =
      nonempty_size(tensor, static_cast<ssize_t>(from_start(dim, nonzero_dim(tensor))));
  for (ssize_t i = 0; i < index.numel(); ++i) {
    const int64_t found = index.scalar_type() == ScalarType::Long
                              ? index.const_data_ptr<int64_t>()[i]
                              : index.const_data_ptr<int32_t>()[i];
    ET_CHECK_OR_RETURN_FALSE(found >= 0 && found < size,
                             "index %" PRId64 " of a dimension of %" PRId64, found, size);
  }
  return true;
}

inline bool no_larger_but_at(const Tensor& index, const Tensor& tensor, int64_t skipped) {
  for (ssize_t d = 0; d < index.dim(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(d == skipped || index.size(d) <= tensor.size(d),
                             "size %zd of dimension %zd of the indices, of the tensor %zd",
                             ssize_t(index.size(d)), d, ssize_t(tensor.size(d)));
  }
  return true;
}

}  // namespace internal

inline bool check_gather_args(const Tensor& in, int64_t dim, const Tensor& index, bool sparse_grad,
                              Tensor& output) {
  ET_CHECK_OR_RETURN_FALSE(!sparse_grad, "sparse gradients are not supported");
  if (!tensors_have_same_dtype(in, output) ||
      !::executorch::runtime::tensor_is_type(index, ScalarType::Long)) {
    return false;
  }
  if (index.numel() == 0) {
    return true;
  }
  ET_CHECK_OR_RETURN_FALSE(nonzero_dim(in) == nonzero_dim(index), "%zd dimensions and %zd indices'",
                           ssize_t(in.dim()), ssize_t(index.dim()));
  if (!tensor_has_dim(in, dim)) {
    return false;
  }
  return (in.dim() == 0 ||
          internal::no_larger_but_at(index, in, internal::from_start(dim, nonzero_dim(in)))) &&
         internal::indices_are_within(index, in, dim);
}

inline bool check_index_select_args(const Tensor& in, int64_t dim, const Tensor& index,
                                    Tensor& out) {
  if (!tensor_has_dim(in, dim) || !tensors_have_same_dtype(in, out) ||
      !::executorch::runtime::tensor_is_type(index, ScalarType::Int, ScalarType::Long) ||
      !tensor_has_rank_smaller_or_equal_to(index, 1)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(in.dim() > 0 || index.numel() == 1,
                           "%zd indices of a tensor without dimensions", ssize_t(index.numel()));
  return internal::indices_are_within(index, in, dim);
}
inline void get_index_select_out_target_size(const Tensor& in, int64_t dim, const Tensor& index,
                                             Tensor::SizesType* out_sizes, size_t* out_ndim) {
  internal::sizes_with(in, dim, index.numel(), out_sizes, out_ndim);
}

inline bool check_nonzero_args(const Tensor& in, const Tensor& out) {
  (void)in;  // of any dtype and shape
  return ::executorch::runtime::tensor_is_type(out, ScalarType::Long) && tensor_is_rank(out, 2);
}

inline bool check_scatter_add_args(const Tensor& self, int64_t dim, const Tensor& index,
                                   const Tensor& src, Tensor& out) {
  if (!tensors_have_same_dtype(self, out) || !tensors_have_same_dtype(self, src) ||
      !::executorch::runtime::tensor_is_type(index, ScalarType::Long) ||
      !tensor_has_dim(self, dim)) {
    return false;
  }
  if (index.numel() == 0) {
    return true;
  }
  ET_CHECK_OR_RETURN_FALSE(
      nonzero_dim(self) == nonzero_dim(src) && nonzero_dim(self) == nonzero_dim(index),
      "tensors of %zd, %zd and %zd dimensions", ssize_t(self.dim()), ssize_t(src.dim()),
      ssize_t(index.dim()));
  const int64_t d = internal::from_start(dim, nonzero_dim(self));
  return (self.dim() == 0 || internal::no_larger_but_at(index, self, d)) &&
         (src.dim() == 0 || internal::no_larger_but_at(index, src, -1)) &&
         internal::indices_are_within(index, self, dim);
}
inline bool check_scatter_src_args(const Tensor& self, int64_t dim, const Tensor& index,
                                   const Tensor& src, Tensor& out) {
  return check_scatter_add_args(self, dim, index, src, out);
}

inline bool check_scatter_value_args(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Scalar& value, Tensor& out) {
  (void)value;  // the kernel converts it
  if (!tensors_have_same_dtype(self, out) ||
      !::executorch::runtime::tensor_is_type(index, ScalarType::Long) ||
      !tensor_has_dim(self, dim)) {
    return false;
  }
  if (index.numel() == 0) {
    return true;
  }
  ET_CHECK_OR_RETURN_FALSE(nonzero_dim(self) == nonzero_dim(index),
                           "tensors of %zd and %zd dimensions", ssize_t(self.dim()),
                           ssize_t(index.dim()));
  return (self.dim() == 0 ||
          internal::no_larger_but_at(index, self, internal::from_start(dim, nonzero_dim(self)))) &&
         internal::indices_are_within(index, self, dim);
}

inline bool check_select_scatter_args(const Tensor& in, const Tensor& src, int64_t dim,
                                      int64_t index, Tensor& output) {
  if (!tensors_have_same_dtype(in, output) || !tensor_has_rank_greater_or_equal_to(in, 1) ||
      !tensor_has_dim(in, dim) || !tensor_dim_has_index(in, dim, index) ||
      !tensor_is_rank(src, static_cast<size_t>(in.dim() - 1))) {
    return false;
  }
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t rank = 0;
  get_select_copy_out_target_size(in, dim, sizes, &rank);
  return tensor_has_expected_size(src, {sizes, rank});
}

}  // namespace executor
}  // namespace torch
