// SPDX-License-Identifier: BSD-3-Clause
// Reductions over some dimensions: which elements fall together, in row-major order of the input,
// and the shape of what stays. `out_ix` numbers the results in row-major order. No list of
// dimensions, or an empty one, means all of them. A 0-dim tensor has dimensions 0 and -1.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch {
namespace executor {

using DimList = std::optional<ArrayRef<int64_t>>;

namespace internal {

/// The dimensions of one reduction, as flags.
struct ReducedDims {
  bool is_reduced[kTensorDimensionLimit] = {};

  ReducedDims(const Tensor& in, const DimList& dims) {
    if (!dims.has_value() || dims->size() == 0) {
      std::fill(is_reduced, is_reduced + kTensorDimensionLimit, true);
      return;
    }
    for (const int64_t dim : *dims) {
      add(in, dim);
    }
  }
  ReducedDims(const Tensor& in, const std::optional<int64_t>& dim) {
    if (dim.has_value()) {
      add(in, *dim);
    } else {
      std::fill(is_reduced, is_reduced + kTensorDimensionLimit, true);
    }
  }

 private:
  void add(const Tensor& in, int64_t dim) {
    ET_CHECK_VALID_DIM(dim, nonzero_dim(in));
    is_reduced[ET_NORMALIZE_IX(dim, static_cast<int64_t>(nonzero_dim(in)))] = true;
  }
};

/// Product of the sizes whose flag is `reduced`.
inline size_t product_of(const Tensor& in, const ReducedDims& dims, bool reduced) {
  size_t product = 1;
  for (ssize_t d = 0; d < in.dim(); ++d) {
    if (dims.is_reduced[d] == reduced) {
      product *= static_cast<size_t>(in.size(d));
    }
  }
  return product;
}

/// Where the first element of result `out_ix` lies in row-major order of `in`.
inline size_t init_index(const Tensor& in, const ReducedDims& dims, size_t out_ix) {
  size_t index = 0;
  size_t stride = 1;
  for (ssize_t d = in.dim(); d-- > 0;) {
    const size_t size = static_cast<size_t>(in.size(d));
    if (!dims.is_reduced[d] && size > 0) {
      index += (out_ix % size) * stride;
      out_ix /= size;
    }
    stride *= size;
  }
  return index;
}

inline size_t reduced_sizes(const Tensor& in, const ReducedDims& dims, bool keepdim,
                            Tensor::SizesType* sizes) {
  size_t rank = 0;
  for (ssize_t d = 0; d < in.dim(); ++d) {
    if (!dims.is_reduced[d]) {
      sizes[rank++] = static_cast<Tensor::SizesType>(in.size(d));
    } else if (keepdim) {
      sizes[rank++] = 1;
    }
  }
  return rank;
}

inline void check_dim(const Tensor& in, const std::optional<int64_t>& dim) {
  if (dim.has_value()) {
    ET_CHECK_VALID_DIM(*dim, nonzero_dim(in));
  }
}

inline void check_result(size_t out_ix, size_t num_out) {
  ET_CHECK_MSG(out_ix < num_out, "result %zu of %zu", out_ix, num_out);
}

inline void check_range(size_t count, size_t start, int64_t end) {
  ET_CHECK_MSG(end == -1 || (end >= 0 && static_cast<size_t>(end) < count),
               "end %" PRId64 " of %zu elements", end, count);
  ET_CHECK_MSG(start < count && (end == -1 || static_cast<size_t>(end) >= start),
               "start %zu of %zu elements", start, count);
}

}  // namespace internal

/// Whether every dimension exists and none is listed twice.
inline bool check_dim_list_is_valid(const Tensor& in, const DimList& dim_list) {
  bool is_listed[kTensorDimensionLimit] = {};
  if (!dim_list.has_value()) {
    return true;
  }
  for (const int64_t dim : *dim_list) {
    if (!tensor_has_dim(in, dim)) {
      return false;
    }
    const int64_t d = ET_NORMALIZE_IX(dim, static_cast<int64_t>(nonzero_dim(in)));
    ET_CHECK_OR_RETURN_FALSE(!is_listed[d], "dimension %" PRId64 " is listed twice", d);
    is_listed[d] = true;
  }
  return true;
}

inline bool check_dim_in_dim_list(const size_t dim, const size_t max_dim,
                                  const ArrayRef<int64_t>& dim_list) {
  for (const int64_t listed : dim_list) {
    if (static_cast<size_t>(ET_NORMALIZE_IX(listed, static_cast<int64_t>(max_dim))) == dim) {
      return true;
    }
  }
  return false;
}

/// Elements per result.
template <typename Dims = DimList>
size_t get_reduced_dim_product(const Tensor& in, const Dims& dims) {
  return in.dim() == 0 ? 1 : internal::product_of(in, {in, dims}, true);
}

/// Results.
inline size_t get_out_numel(const Tensor& in, const DimList& dim_list) {
  return internal::product_of(in, {in, dim_list}, false);
}
inline size_t get_out_numel(const Tensor& in, const std::optional<int64_t>& dim) {
  return internal::product_of(in, {in, dim}, false);
}
inline size_t get_out_numel(const Tensor& in, int64_t dim) {
  return get_out_numel(in, std::optional<int64_t>(dim));
}

/// Where the first element of a result lies in the input, row-major.
inline size_t get_init_index(const Tensor& in, const DimList& dim_list, const size_t out_ix) {
  return internal::init_index(in, {in, dim_list}, out_ix);
}
inline size_t get_init_index(const Tensor& in, const std::optional<int64_t>& dim,
                             const size_t out_ix) {
  return internal::init_index(in, {in, dim}, out_ix);
}
inline size_t get_init_index(const Tensor& in, int64_t dim, const size_t out_ix) {
  return get_init_index(in, std::optional<int64_t>(dim), out_ix);
}

/// Calls fn(size, stride, base) for each line along `dim`: element i lies at base + i * stride.
template <typename Fn>
void apply_over_dim(const Fn& fn, const Tensor& in, const std::optional<int64_t>& dim) {
  internal::check_dim(in, dim);
  if (in.numel() == 0) {
    return;
  }
  if (!dim.has_value() || in.dim() == 0) {
    fn(static_cast<size_t>(in.numel()), size_t{1}, size_t{0});
    return;
  }
  const ssize_t d = static_cast<ssize_t>(ET_NORMALIZE_IX(*dim, static_cast<int64_t>(in.dim())));
  const size_t size = static_cast<size_t>(in.size(d));
  const size_t stride = getTrailingDims(in, d);
  const size_t outer = getLeadingDims(in, d);
  for (size_t i = 0; i < outer; ++i) {
    for (size_t j = 0; j < stride; ++j) {
      fn(size, stride, i * size * stride + j);
    }
  }
}

/// Calls fn(index in the input, index along `dim`) for the elements `start` to `end` (-1: the last)
/// of result `out_ix`.
template <typename Fn>
void apply_over_dim(const Fn& fn, const Tensor& in, const std::optional<int64_t>& dim,
                    const size_t out_ix, const int64_t start = 0, const int64_t end = -1) {
  internal::check_dim(in, dim);
  internal::check_result(out_ix, get_out_numel(in, dim));
  if (in.numel() == 0) {
    return;
  }
  const size_t count = get_reduced_dim_product(in, dim);
  internal::check_range(count, static_cast<size_t>(start), end);
  const size_t last = end == -1 ? count - 1 : static_cast<size_t>(end);
  const bool is_line = dim.has_value() && in.dim() > 0;
  const size_t stride =
      is_line ? getTrailingDims(in, ET_NORMALIZE_IX(*dim, static_cast<int64_t>(in.dim()))) : 1;
  const size_t first = get_init_index(in, dim, out_ix);
  for (size_t i = static_cast<size_t>(start); i <= last; ++i) {
    fn(first + i * stride, i);
  }
}

/// Visits the elements of results over a list of dimensions; made once, used for many results.
/// Holds references to the tensor and the list.
class ApplyOverDimListPlan {
 public:
  ApplyOverDimListPlan(const Tensor& in, const DimList& dim_list, const int64_t start = 0,
                       const int64_t end = -1)
      : in_(in), dim_list_(dim_list), dims_(in, dim_list), start_(start), end_(end) {
    ET_CHECK_MSG(check_dim_list_is_valid(in, dim_list), "the list of dimensions is not valid");
    num_out_ = internal::product_of(in, dims_, false);
    count_ = in.dim() == 0 ? 1 : internal::product_of(in, dims_, true);
    size_t stride = 1;
    for (ssize_t d = in.dim(); d-- > 0;) {
      if (dims_.is_reduced[d]) {
        sizes_[rank_] = static_cast<size_t>(in.size(d));
        strides_[rank_++] = stride;
      }
      stride *= static_cast<size_t>(in.size(d));
    }
  }

  /// Calls fn(index in the input).
  template <typename Fn>
  void execute(const Fn& fn, const size_t out_ix) const {
    internal::check_result(out_ix, num_out_);
    if (in_.numel() == 0) {
      return;
    }
    internal::check_range(count_, static_cast<size_t>(start_), end_);
    const size_t last = end_ == -1 ? count_ - 1 : static_cast<size_t>(end_);
    const size_t base = internal::init_index(in_, dims_, out_ix);
    for (size_t i = static_cast<size_t>(start_); i <= last; ++i) {
      size_t rest = i;
      size_t position = base;
      for (size_t d = 0; d < rank_; ++d) {  // from the innermost reduced dimension on
        position += (rest % sizes_[d]) * strides_[d];
        rest /= sizes_[d];
      }
      fn(position);
    }
  }

  const Tensor& get_input_tensor() const { return in_; }
  const DimList& get_dim_list() const { return dim_list_; }

 private:
  const Tensor in_;
  const DimList dim_list_;
  internal::ReducedDims dims_;
  int64_t start_;
  int64_t end_;
  size_t num_out_ = 0;
  size_t count_ = 0;
  size_t rank_ = 0;
  size_t sizes_[kTensorDimensionLimit] = {};
  size_t strides_[kTensorDimensionLimit] = {};
};

template <typename Fn>
void apply_over_dim_list(const Fn& fn, const Tensor& in, const DimList& dim_list,
                         const size_t out_ix, const int64_t start = 0, const int64_t end = -1) {
  ApplyOverDimListPlan(in, dim_list, start, end).execute(fn, out_ix);
}

/// reduce(mapped value, its index, accumulated, index of that) over the elements of a result: the
/// value and the index along `dim` that came out. The input must not be empty along it.
template <typename CTYPE_IN, typename CTYPE_OUT, typename MapOp, typename ReduceOp>
std::tuple<CTYPE_OUT, long> map_reduce_over_dim(const MapOp& map_fun, const ReduceOp& reduce_fun,
                                                const Tensor& in, const std::optional<int64_t>& dim,
                                                const size_t out_ix) {
  ET_CHECK_MSG(in.numel() > 0, "nothing to reduce");
  const CTYPE_IN* const data = in.const_data_ptr<CTYPE_IN>();
  CTYPE_OUT value{};
  long index = 0;
  apply_over_dim(
      [&](const size_t in_ix, const size_t dim_ix) {
        const CTYPE_OUT mapped = map_fun(data[in_ix]);
        if (dim_ix == 0) {
          value = mapped;
        } else {
          std::tie(value, index) = reduce_fun(mapped, static_cast<long>(dim_ix), value, index);
        }
      },
      in, dim, out_ix);
  return {value, index};
}

template <typename CTYPE, typename ReduceOp>
std::tuple<CTYPE, long> reduce_over_dim(const ReduceOp& reduce_fun, const Tensor& in,
                                        const std::optional<int64_t>& dim, const size_t out_ix) {
  return map_reduce_over_dim<CTYPE, CTYPE>([](CTYPE v) { return v; }, reduce_fun, in, dim, out_ix);
}

/// reduce(mapped value, accumulated) over the elements of results.
class MapReduceOverDimListPlan {
 public:
  MapReduceOverDimListPlan(const Tensor& in, const DimList& dim_list) : plan_(in, dim_list) {
    ET_CHECK_MSG(in.numel() > 0, "nothing to reduce");
  }

  template <typename CTYPE_IN, typename CTYPE_OUT, typename MapOp, typename ReduceOp>
  CTYPE_OUT execute(const MapOp& map_fun, const ReduceOp& reduce_fun, const size_t out_ix) const {
    const CTYPE_IN* const data = plan_.get_input_tensor().const_data_ptr<CTYPE_IN>();
    CTYPE_OUT value{};
    bool is_first = true;
    plan_.execute(
        [&](const size_t in_ix) {
          value = is_first ? map_fun(data[in_ix]) : reduce_fun(map_fun(data[in_ix]), value);
          is_first = false;
        },
        out_ix);
    return value;
  }

 private:
  ApplyOverDimListPlan plan_;
};

template <typename CTYPE_IN, typename CTYPE_OUT, typename MapOp, typename ReduceOp>
CTYPE_OUT map_reduce_over_dim_list(const MapOp& map_fun, const ReduceOp& reduce_fun,
                                   const Tensor& in, const DimList& dim_list, const size_t out_ix) {
  return MapReduceOverDimListPlan(in, dim_list)
      .execute<CTYPE_IN, CTYPE_OUT>(map_fun, reduce_fun, out_ix);
}

class ReduceOverDimListPlan {
 public:
  ReduceOverDimListPlan(const Tensor& in, const DimList& dim_list) : plan_(in, dim_list) {}

  template <typename CTYPE, typename ReduceOp>
  CTYPE execute(const ReduceOp& reduce_fun, const size_t out_ix) const {
    return plan_.execute<CTYPE, CTYPE>([](CTYPE v) { return v; }, reduce_fun, out_ix);
  }

 private:
  MapReduceOverDimListPlan plan_;
};

template <typename CTYPE, typename ReduceOp>
CTYPE reduce_over_dim_list(const ReduceOp& reduce_fun, const Tensor& in, const DimList& dim_list,
                           const size_t out_ix) {
  return ReduceOverDimListPlan(in, dim_list).execute<CTYPE>(reduce_fun, out_ix);
}

/// Writes the sizes of the result and returns its rank.
inline size_t compute_reduced_out_size(const Tensor& in, const std::optional<int64_t>& dim,
                                       bool keepdim, Tensor::SizesType* sizes_arr) {
  return internal::reduced_sizes(in, {in, dim}, keepdim, sizes_arr);
}
inline size_t compute_reduced_out_size(const Tensor& in, const DimList& dim_list, bool keepdim,
                                       Tensor::SizesType* sizes_arr) {
  return internal::reduced_sizes(in, {in, dim_list}, keepdim, sizes_arr);
}
template <typename Dims>
ssize_t compute_reduced_out_dim(const Tensor& in, const Dims& dims, bool keepdim) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  return static_cast<ssize_t>(compute_reduced_out_size(in, dims, keepdim, sizes));
}

inline Error resize_reduction_out(const Tensor& in, const std::optional<int64_t>& dim, bool keepdim,
                                  Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  const size_t rank = compute_reduced_out_size(in, dim, keepdim, sizes);
  return resize_tensor(out, {sizes, rank});
}
inline Error resize_reduction_out(const Tensor& in, const DimList& dim_list, bool keepdim,
                                  Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  const size_t rank = compute_reduced_out_size(in, dim_list, keepdim, sizes);
  return resize_tensor(out, {sizes, rank});
}
inline Error resize_reduction_out(const Tensor& in, int64_t dim, bool keepdim, Tensor& out) {
  return resize_reduction_out(in, std::optional<int64_t>(dim), keepdim, out);
}

// ---- Checks of arguments: false, with a message, when they are not as they must be.

inline bool check_reduction_args(const Tensor& in, const DimList& dim_list, bool keepdim,
                                 std::optional<ScalarType> dtype, Tensor& out) {
  if (dtype.has_value() && !::executorch::runtime::tensor_is_type(out, *dtype)) {
    return false;
  }
  return check_dim_list_is_valid(in, dim_list) &&
         tensor_is_rank(out, static_cast<size_t>(compute_reduced_out_dim(in, dim_list, keepdim))) &&
         tensor_is_default_or_channels_last_dim_order(in) &&
         tensor_is_default_or_channels_last_dim_order(out);
}

inline bool check_reduction_args_single_dim(const Tensor& in, std::optional<int64_t> dim,
                                            bool keepdim, std::optional<ScalarType> dtype,
                                            Tensor& out, bool allow_empty_dim = false) {
  if ((dtype.has_value() && !::executorch::runtime::tensor_is_type(out, *dtype)) ||
      (dim.has_value() && !tensor_has_dim(in, *dim))) {
    return false;
  }
  if (in.dim() > 0 && dim.has_value() && !allow_empty_dim && !tensor_has_non_empty_dim(in, *dim)) {
    return false;
  }
  return tensor_is_rank(out, static_cast<size_t>(compute_reduced_out_dim(in, dim, keepdim))) &&
         tensor_is_default_or_channels_last_dim_order(in) &&
         tensor_is_default_or_channels_last_dim_order(out);
}

inline bool check_mean_dim_args(const Tensor& in, const DimList& dim_list, bool keepdim,
                                std::optional<ScalarType> dtype, Tensor& out) {
  if (!check_reduction_args(in, dim_list, keepdim, dtype, out)) {
    return false;
  }
  if (dtype.has_value()) {
    ET_CHECK_OR_RETURN_FALSE(isFloatingType(*dtype), "a mean of type %s", toString(*dtype));
    return tensor_is_floating_type(out);
  }
  return tensor_is_floating_type(in) && tensor_is_floating_type(out);
}

inline bool check_amin_amax_args(const Tensor& in, ArrayRef<int64_t> dim_list, bool keepdim,
                                 Tensor& out) {
  return check_reduction_args(in, dim_list, keepdim, {}, out) && tensors_have_same_dtype(in, out);
}

inline bool check_argmin_argmax_args(const Tensor& in, std::optional<int64_t> dim, bool keepdim,
                                     Tensor& out) {
  return check_reduction_args_single_dim(in, dim, keepdim, ScalarType::Long, out);
}

inline bool check_min_max_args(const Tensor& in, int64_t dim, bool keepdim, Tensor& max,
                               Tensor& max_indices) {
  return check_reduction_args_single_dim(in, dim, keepdim, in.scalar_type(), max) &&
         check_reduction_args_single_dim(in, dim, keepdim, ScalarType::Long, max_indices) &&
         tensors_have_same_shape(max, max_indices);
}

inline bool check_prod_out_args(const Tensor& in, std::optional<ScalarType> dtype, Tensor& out) {
  if (dtype.has_value()) {
    return ::executorch::runtime::tensor_is_type(out, *dtype);
  }
  return isIntegralType(in.scalar_type(), /*includeBool=*/true)
             ? ::executorch::runtime::tensor_is_type(out, ScalarType::Long)
             : tensors_have_same_dtype(in, out);
}

/// Calls func(first, last) over ranges of results, in parallel where there is a pool.
template <typename Func>
[[nodiscard]] bool parallel_for_each_reduce_over_dim_output_index(const Tensor& in,
                                                                  std::optional<int64_t> dim,
                                                                  const Tensor& out,
                                                                  const Func& func) {
  const int64_t count =
      std::max<int64_t>(1, static_cast<int64_t>(get_reduced_dim_product(in, dim)));
  return ::executorch::extension::parallel_for(0, out.numel(), std::max<int64_t>(1, 32768 / count),
                                               func);
}
template <typename Func>
[[nodiscard]] bool parallel_for_each_reduce_over_dim_list_output_index(const Tensor& in,
                                                                       DimList dim_list,
                                                                       const Tensor& out,
                                                                       const Func& func) {
  const int64_t count =
      std::max<int64_t>(1, static_cast<int64_t>(get_reduced_dim_product(in, dim_list)));
  return ::executorch::extension::parallel_for(0, out.numel(), std::max<int64_t>(1, 32768 / count),
                                               func);
}

}  // namespace executor
}  // namespace torch
