// SPDX-License-Identifier: BSD-3-Clause
// Ranges of a dimension, as Python slices mean them.
#pragma once

#include <cstring>

#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

inline bool check_narrow_copy_args(const Tensor& in, int64_t dim, int64_t start, int64_t length,
                                   Tensor& out) {
  if (!tensor_has_rank_greater_or_equal_to(in, 1) || !tensor_has_dim(in, dim) ||
      !tensors_have_same_dtype(in, out)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(length >= 0, "a length of %" PRId64, length);
  const int64_t size = in.size(static_cast<ssize_t>(internal::from_start(dim, in.dim())));
  ET_CHECK_OR_RETURN_FALSE(start >= -size && start <= size,
                           "start %" PRId64 " of a dimension of %" PRId64, start, size);
  const int64_t first = start < 0 ? start + size : start;
  ET_CHECK_OR_RETURN_FALSE(first + length <= size,
                           "%" PRId64 " from %" PRId64 " of a dimension of %" PRId64, length, first,
                           size);
  return true;
}
inline void get_narrow_copy_out_target_size(const Tensor& in, int64_t dim, int64_t length,
                                            Tensor::SizesType* out_sizes, size_t* out_ndim) {
  internal::sizes_with(in, dim, length, out_sizes, out_ndim);
}

inline bool check_slice_copy_args(const Tensor& in, int64_t dim, int64_t step, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(step > 0, "a step of %" PRId64, step);
  return tensor_has_rank_greater_or_equal_to(in, 1) && tensors_have_same_dtype(in, out) &&
         tensor_has_dim(in, dim);
}
inline void get_slice_copy_out_target_size(const Tensor& in, int64_t dim, int64_t num_values,
                                           Tensor::SizesType* out_sizes, size_t* out_ndim) {
  internal::sizes_with(in, dim, num_values, out_sizes, out_ndim);
}

inline bool check_slice_scatter_args(const Tensor& input, const Tensor& src, int64_t dim,
                                     int64_t num_values, int64_t step, Tensor output) {
  ET_CHECK_OR_RETURN_FALSE(step > 0, "a step of %" PRId64, step);
  if (!tensor_has_rank_greater_or_equal_to(input, 1) || !tensor_has_dim(input, dim) ||
      !tensors_have_same_dtype(input, output) || !tensors_have_same_rank(input, src)) {
    return false;
  }
  for (ssize_t d = 0; d < input.dim(); ++d) {
    const bool is_sliced = d == internal::from_start(dim, input.dim());
    ET_CHECK_OR_RETURN_FALSE(src.size(d) == (is_sliced ? num_values : int64_t(input.size(d))),
                             "size %zd of dimension %zd of the source", ssize_t(src.size(d)), d);
  }
  return true;
}

/// Clamps both to [0, dim_length], counting negative ones from the end, and returns how many
/// elements the slice has.
inline int64_t adjust_slice_indices(int64_t dim_length, int64_t* start, int64_t* end,
                                    int64_t step) {
  const auto clamp = [dim_length](int64_t position) {
    position = position < 0 ? position + dim_length : position;
    return position < 0 ? int64_t{0} : position > dim_length ? dim_length : position;
  };
  *start = clamp(*start);
  *end = clamp(*end);
  if (step <= 0 || *start >= *end) {
    return 0;
  }
  return 1 + (*end - *start - 1) / step;
}

/// out = every step-th of `length` elements along `dim`, from `start` on; shapes were checked.
inline void compute_slice(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, int64_t start,
                          int64_t length, int64_t step, Tensor& out) {
  const ssize_t d = static_cast<ssize_t>(internal::from_start(dim, in.dim()));
  const int64_t size = in.size(d);
  ET_KERNEL_CHECK_MSG(
      ctx,
      start >= 0 && step > 0 && length >= 0 && (length == 0 || start + (length - 1) * step < size),
      InvalidArgument, , "%" PRId64 " from %" PRId64 " by %" PRId64 " of a dimension of %" PRId64,
      length, start, step, size);
  const size_t run = getTrailingDims(in, d) * static_cast<size_t>(in.element_size());
  const size_t outer = getLeadingDims(in, d);
  ET_KERNEL_CHECK(ctx, out.nbytes() == outer * static_cast<size_t>(length) * run,
                  InvalidArgument, );
  const char* const from = static_cast<const char*>(in.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  if (run == 0) {
    return;
  }
  for (size_t i = 0; i < outer; ++i) {
    for (int64_t k = 0; k < length; ++k, to += run) {
      std::memcpy(
          to, from + (i * static_cast<size_t>(size) + static_cast<size_t>(start + k * step)) * run,
          run);
    }
  }
}

}  // namespace executor
}  // namespace torch
