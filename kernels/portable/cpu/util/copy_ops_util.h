// SPDX-License-Identifier: BSD-3-Clause
// Checks and output shapes of operators that move elements. A check logs and returns false; a
// get_..._out_target_size writes the sizes and the rank of the output for arguments that passed.
#pragma once

#include <cstring>
#include <tuple>

#include <executorch/kernels/portable/cpu/util/transpose_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace internal {

using Sizes = Tensor::SizesType;

inline int64_t from_start(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

/// The sizes of `in` with dimension `dim` changed to `size`.
inline void sizes_with(const Tensor& in, int64_t dim, int64_t size, Sizes* out_sizes,
                       size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(in.dim());
  for (size_t d = 0; d < *out_ndim; ++d) {
    out_sizes[d] = in.sizes()[d];
  }
  if (in.dim() > 0) {
    out_sizes[from_start(dim, in.dim())] = static_cast<Sizes>(size);
  }
}

inline bool have_same_dtype(ArrayRef<Tensor> tensors, const Tensor& out) {
  for (const Tensor& tensor : tensors) {
    if (!tensors_have_same_dtype(tensor, out)) {
      return false;
    }
  }
  return true;
}

}  // namespace internal

inline bool check_as_strided_copy_args(const Tensor& in, ArrayRef<int64_t> size,
                                       ArrayRef<int64_t> stride,
                                       std::optional<int64_t> storage_offset, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(size.size() == stride.size(), "%zu sizes and %zu strides", size.size(),
                           stride.size());
  const int64_t offset = storage_offset.value_or(0);
  ET_CHECK_OR_RETURN_FALSE(offset >= 0, "a storage offset of %" PRId64, offset);
  int64_t last = offset;
  bool is_empty = false;
  for (size_t i = 0; i < size.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(stride[i] >= 0 && size[i] >= 0,
                             "size %" PRId64 " with stride %" PRId64 " of dimension %zu", size[i],
                             stride[i], i);
    int64_t step = 0;
    ET_CHECK_OR_RETURN_FALSE(
        !c10::mul_overflows(stride[i], size[i] == 0 ? 0 : size[i] - 1, &step) &&
            !c10::add_overflows(last, step, &last),
        "the strides leave the address space");
    is_empty = is_empty || size[i] == 0;
  }
  ET_CHECK_OR_RETURN_FALSE(is_empty || last < in.numel(), "element %" PRId64 " of a tensor of %zd",
                           last, ssize_t(in.numel()));
  return tensors_have_same_dtype(in, out);
}

/// out = the view of `in` with these sizes and strides.
template <typename CTYPE>
void as_strided_copy(const Tensor& in, ArrayRef<int64_t> size, ArrayRef<int64_t> stride,
                     int64_t offset, Tensor& out) {
  const CTYPE* const from = in.const_data_ptr<CTYPE>() + offset;
  CTYPE* const to = out.mutable_data_ptr<CTYPE>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    int64_t rest = i;
    int64_t position = 0;
    for (size_t d = size.size(); d-- > 0;) {
      position += rest % size[d] * stride[d];
      rest /= size[d];
    }
    to[i] = from[position];
  }
}

/// Elements of another type and dim order; equal shapes.
template <typename SELF_CTYPE, typename OUT_CTYPE>
void _to_dim_order_copy_impl(const Tensor& self, Tensor& out) {
  const SELF_CTYPE* const from = self.const_data_ptr<SELF_CTYPE>();
  OUT_CTYPE* const to = out.mutable_data_ptr<OUT_CTYPE>();
  for (const auto& [to_index, from_index] : BroadcastIndexesRange<1>(out, self)) {
    to[to_index] = static_cast<OUT_CTYPE>(from[from_index]);
  }
}

inline bool check_cat_args(ArrayRef<Tensor> tensors, int64_t dim, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(tensors.size() > 0, "nothing to join");
  // Tensors of one dimension and no elements join with anything.
  const auto is_nothing = [](const Tensor& t) { return t.dim() == 1 && t.numel() == 0; };
  size_t reference = 0;
  while (reference + 1 < tensors.size() && is_nothing(tensors[reference])) {
    ++reference;
  }
  const Tensor& first = tensors[reference];
  for (const Tensor& tensor : tensors) {
    ET_CHECK_OR_RETURN_FALSE(canCast(tensor.scalar_type(), out.scalar_type()),
                             "%s cannot be stored as %s", toString(tensor.scalar_type()),
                             toString(out.scalar_type()));
    if (is_nothing(tensor)) {
      continue;
    }
    if (!tensors_have_same_dim_order(tensor, out)) {
      return false;
    }
    if (!tensors_have_same_rank(tensor, first)) {
      return false;
    }
    for (ssize_t d = 0; d < tensor.dim(); ++d) {
      ET_CHECK_OR_RETURN_FALSE(
          d == internal::from_start(dim, first.dim()) || tensor.size(d) == first.size(d),
          "sizes %zd and %zd of dimension %zd", ssize_t(tensor.size(d)), ssize_t(first.size(d)), d);
    }
  }
  return first.dim() > 0 && tensor_has_dim(first, dim);
}

inline void get_cat_out_target_size(ArrayRef<Tensor> tensors, int64_t dim,
                                    Tensor::SizesType* out_sizes, size_t* out_ndim) {
  size_t reference = 0;
  int64_t size = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.dim() == 1 && tensor.numel() == 0) {
      continue;
    }
    size += tensor.size(static_cast<ssize_t>(internal::from_start(dim, tensor.dim())));
    reference = i;
  }
  internal::sizes_with(tensors[reference], dim, size, out_sizes, out_ndim);
}

inline bool check_expand_copy_args(const Tensor& self, ArrayRef<int64_t> expand_sizes,
                                   bool implicit, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(!implicit, "an implicit expansion is not supported");
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(self.dim()) <= expand_sizes.size(),
                           "%zd dimensions cannot become %zu", ssize_t(self.dim()),
                           expand_sizes.size());
  ET_CHECK_OR_RETURN_FALSE(expand_sizes.size() <= kTensorDimensionLimit, "%zu dimensions",
                           expand_sizes.size());
  return tensors_have_same_dtype(self, out);
}

/// False where a size is neither that of the input, nor expands a 1; -1 keeps a size.
inline bool get_expand_copy_out_target_size(ArrayRef<Tensor::SizesType> self_sizes,
                                            ArrayRef<int64_t> expand_sizes,
                                            Tensor::SizesType* output_sizes, size_t* output_rank) {
  *output_rank = expand_sizes.size();
  for (size_t i = 1; i <= expand_sizes.size(); ++i) {
    const int64_t wanted = expand_sizes[expand_sizes.size() - i];
    const bool is_there = i <= self_sizes.size();
    const int64_t size = is_there ? self_sizes[self_sizes.size() - i] : 1;
    ET_CHECK_OR_RETURN_FALSE(
        wanted == size || (size == 1 && wanted >= 0) || (wanted == -1 && is_there),
        "size %" PRId64 " cannot become %" PRId64, size, wanted);
    output_sizes[expand_sizes.size() - i] =
        static_cast<Tensor::SizesType>(wanted == -1 ? size : wanted);
  }
  return true;
}

inline bool check_permute_copy_args(const Tensor& in, ArrayRef<int64_t> dims, Tensor& out) {
  bool is_listed[kTensorDimensionLimit] = {};
  if (!tensor_is_rank(in, dims.size()) || !tensors_have_same_dtype(in, out)) {
    return false;
  }
  for (const int64_t dim : dims) {
    if (!tensor_has_dim(in, dim)) {
      return false;
    }
    const int64_t d = internal::from_start(dim, nonzero_dim(in));
    ET_CHECK_OR_RETURN_FALSE(!is_listed[d], "dimension %" PRId64 " is listed twice", d);
    is_listed[d] = true;
  }
  return true;
}
inline void get_permute_copy_out_target_size(const Tensor& in, ArrayRef<int64_t> dims,
                                             Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(in.dim());
  for (size_t i = 0; i < *out_ndim; ++i) {
    out_sizes[i] = static_cast<Tensor::SizesType>(
        in.size(static_cast<ssize_t>(internal::from_start(dims[i], in.dim()))));
  }
}

inline bool check_unbind_copy_args(const Tensor& in, int64_t dim, TensorList out) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() > 0, "a tensor without dimensions cannot be split");
  if (!tensor_has_dim(in, dim)) {
    return false;
  }
  const ssize_t d = static_cast<ssize_t>(internal::from_start(dim, in.dim()));
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(in.size(d)) == out.size(), "%zu outputs for %zd",
                           out.size(), ssize_t(in.size(d)));
  for (const Tensor& piece : out) {
    if (!tensors_have_same_dtype(in, piece) ||
        !tensor_is_rank(piece, static_cast<size_t>(in.dim() - 1))) {
      return false;
    }
    for (ssize_t i = 0; i < piece.dim(); ++i) {
      if (!tensors_have_same_size_at_dims(piece, static_cast<size_t>(i), in,
                                          static_cast<size_t>(i < d ? i : i + 1))) {
        return false;
      }
    }
  }
  return true;
}

inline bool check_pixel_shuffle_args(const Tensor& in, int64_t upscale_factor, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(upscale_factor > 0, "an upscale factor of %" PRId64, upscale_factor);
  if (!tensor_has_rank_greater_or_equal_to(in, 3) || !tensors_have_same_dtype(in, out)) {
    return false;
  }
  const ssize_t channels = in.size(in.dim() - 3);
  ET_CHECK_OR_RETURN_FALSE(channels % (upscale_factor * upscale_factor) == 0,
                           "%zd channels for a factor of %" PRId64, channels, upscale_factor);
  return true;
}
inline bool check_pixel_unshuffle_args(const Tensor& in, int64_t downscale_factor, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(downscale_factor > 0, "a downscale factor of %" PRId64,
                           downscale_factor);
  if (!tensor_has_rank_greater_or_equal_to(in, 3) || !tensors_have_same_dtype(in, out)) {
    return false;
  }
  for (ssize_t d = in.dim() - 2; d < in.dim(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(in.size(d) % downscale_factor == 0,
                             "size %zd for a factor of %" PRId64, ssize_t(in.size(d)),
                             downscale_factor);
  }
  return true;
}
inline void get_pixel_shuffle_out_target_size(const Tensor& in, int64_t upscale_factor,
                                              Tensor::SizesType* out_sizes, size_t* out_ndim) {
  const auto factor = static_cast<Tensor::SizesType>(upscale_factor);
  internal::sizes_with(in, 0, in.size(0), out_sizes, out_ndim);
  out_sizes[*out_ndim - 3] /= factor * factor;
  out_sizes[*out_ndim - 2] *= factor;
  out_sizes[*out_ndim - 1] *= factor;
}
inline void get_pixel_unshuffle_out_target_size(const Tensor& in, int64_t downscale_factor,
                                                Tensor::SizesType* out_sizes, size_t* out_ndim) {
  const auto factor = static_cast<Tensor::SizesType>(downscale_factor);
  internal::sizes_with(in, 0, in.size(0), out_sizes, out_ndim);
  out_sizes[*out_ndim - 3] *= factor * factor;
  out_sizes[*out_ndim - 2] /= factor;
  out_sizes[*out_ndim - 1] /= factor;
}

inline bool check_select_copy_out_args(const Tensor& in, int64_t dim, int64_t index, Tensor& out) {
  return tensor_has_rank_greater_or_equal_to(in, 1) && tensor_has_dim(in, dim) &&
         tensor_dim_has_index(in, dim, index) && tensors_have_same_dtype(in, out);
}
inline void get_select_copy_out_target_size(const Tensor& in, int64_t dim,
                                            Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = 0;
  for (ssize_t d = 0; d < in.dim(); ++d) {
    if (d != internal::from_start(dim, in.dim())) {
      out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(in.size(d));
    }
  }
}

inline bool check_split_with_sizes_copy_args(const Tensor& in, ArrayRef<int64_t> split_sizes,
                                             int64_t dim, TensorList out) {
  if (!tensor_has_rank_greater_or_equal_to(in, 1) || !tensor_has_dim(in, dim)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(split_sizes.size() == out.size(), "%zu outputs for %zu sizes",
                           out.size(), split_sizes.size());
  int64_t sum = 0;
  for (size_t i = 0; i < split_sizes.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(split_sizes[i] >= 0, "size %" PRId64 " of piece %zu", split_sizes[i],
                             i);
    sum += split_sizes[i];
  }
  const ssize_t size = in.size(static_cast<ssize_t>(internal::from_start(dim, in.dim())));
  ET_CHECK_OR_RETURN_FALSE(sum == size, "pieces of %" PRId64 " in all of a dimension of %zd", sum,
                           size);
  return internal::have_same_dtype(out, in);
}
inline void get_split_with_sizes_copy_out_target_size(const Tensor& in, int64_t split_size,
                                                      int64_t dim, Tensor::SizesType* out_sizes,
                                                      size_t* out_ndim) {
  internal::sizes_with(in, dim, split_size, out_sizes, out_ndim);
}

inline bool check_split_copy_args(const Tensor& input, int64_t split_size, int64_t dim,
                                  TensorList out) {
  if (!tensor_has_rank_greater_or_equal_to(input, 1) || !tensor_has_dim(input, dim)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(split_size >= 0, "a split size of %" PRId64, split_size);
  const ssize_t d = static_cast<ssize_t>(internal::from_start(dim, input.dim()));
  const int64_t size = input.size(d);
  ET_CHECK_OR_RETURN_FALSE(split_size > 0 || size == 0, "a split size of 0 for size %" PRId64,
                           size);
  const int64_t pieces = split_size >= size ? 1
                         : split_size == 0  ? 1
                                            : (size + split_size - 1) / split_size;
  ET_CHECK_OR_RETURN_FALSE(static_cast<int64_t>(out.size()) == pieces,
                           "%zu outputs for %" PRId64 " pieces", out.size(), pieces);
  for (size_t i = 0; i < out.size(); ++i) {
    const bool is_last = i + 1 == out.size();
    const int64_t expected = is_last ? size - static_cast<int64_t>(i) * split_size : split_size;
    if (!tensors_have_same_dtype(input, out[i]) || !tensors_have_same_rank(input, out[i])) {
      return false;
    }
    for (ssize_t k = 0; k < input.dim(); ++k) {
      ET_CHECK_OR_RETURN_FALSE(out[i].size(k) == (k == d ? expected : int64_t(input.size(k))),
                               "size %zd of dimension %zd of piece %zu", ssize_t(out[i].size(k)), k,
                               i);
    }
  }
  return true;
}

inline bool check_squeeze_copy_dims_args(const Tensor in, const ArrayRef<int64_t> dims,
                                         const Tensor out) {
  if (!tensors_have_same_dtype(in, out)) {
    return false;
  }
  bool is_listed[kTensorDimensionLimit] = {};
  for (const int64_t dim : dims) {
    if (!tensor_has_dim(in, dim)) {
      return false;
    }
    const int64_t d = internal::from_start(dim, nonzero_dim(in));
    ET_CHECK_OR_RETURN_FALSE(!is_listed[d], "dimension %" PRId64 " is listed twice", d);
    is_listed[d] = true;
  }
  return true;
}
inline bool check_squeeze_copy_dim_args(const Tensor in, int64_t dim, const Tensor out) {
  return check_squeeze_copy_dims_args(in, dim, out);
}
inline void get_squeeze_copy_dims_out_target_size(const Tensor in, const ArrayRef<int64_t> dims,
                                                  Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = 0;
  for (ssize_t d = 0; d < in.dim(); ++d) {
    bool is_listed = false;
    for (const int64_t dim : dims) {
      is_listed = is_listed || internal::from_start(dim, in.dim()) == d;
    }
    if (!is_listed || in.size(d) != 1) {
      out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(in.size(d));
    }
  }
}
inline void get_squeeze_copy_dim_out_target_size(const Tensor in, int64_t dim,
                                                 Tensor::SizesType* out_sizes, size_t* out_ndim) {
  get_squeeze_copy_dims_out_target_size(in, dim, out_sizes, out_ndim);
}

inline bool check_stack_args(ArrayRef<Tensor> tensors, int64_t dim, Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(tensors.size() > 0, "nothing to stack");
  for (const Tensor& tensor : tensors) {
    if (!tensor_can_cast_to(tensor, out.scalar_type()) ||
        !tensor_has_expected_size(tensor, tensors[0].sizes())) {
      return false;
    }
  }
  return tensor_is_rank(tensors[0], static_cast<size_t>(tensors[0].dim())) &&
         dim_is_valid(dim, tensors[0].dim() + 1);
}
inline void get_stack_out_target_size(ArrayRef<Tensor> tensors, int64_t dim,
                                      Tensor::SizesType* out_sizes, size_t* out_ndim) {
  const Tensor& first = tensors[0];
  *out_ndim = static_cast<size_t>(first.dim() + 1);
  const int64_t d = internal::from_start(dim, first.dim() + 1);
  for (int64_t i = 0; i <= first.dim(); ++i) {
    out_sizes[i] =
        i == d
            ? static_cast<Tensor::SizesType>(tensors.size())
            : static_cast<Tensor::SizesType>(first.size(static_cast<ssize_t>(i < d ? i : i - 1)));
  }
}

inline bool check_tril_args(const Tensor& in, Tensor& out) {
  return tensors_have_same_dtype(in, out) && tensor_has_rank_greater_or_equal_to(in, 2);
}

inline bool check_to_copy_args(const Tensor&, bool non_blocking,
                               std::optional<::executorch::aten::MemoryFormat> memory_format,
                               Tensor&) {
  ET_CHECK_OR_RETURN_FALSE(!non_blocking, "only blocking copies are supported");
  ET_CHECK_OR_RETURN_FALSE(
      !memory_format.has_value() || *memory_format == ::executorch::aten::MemoryFormat::Contiguous,
      "only the contiguous memory format is supported");
  return true;
}

inline bool check__to_dim_order_copy_args(const Tensor& input, bool non_blocking,
                                          ::executorch::aten::OptionalArrayRef<int64_t> dim_order,
                                          Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(!non_blocking, "only blocking copies are supported");
  if (!dim_order.has_value()) {
    return tensors_have_same_rank(input, out) && tensors_have_same_dim_order(input, out);
  }
  const ArrayRef<int64_t> order = *dim_order;
  if (!tensors_have_same_rank(input, out) || !tensor_is_rank(input, order.size())) {
    return false;
  }
  Tensor::DimOrderType wanted[kTensorDimensionLimit];
  for (size_t i = 0; i < order.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(order[i] >= 0 && order[i] < input.dim(),
                             "dimension %" PRId64 " in a dim order", order[i]);
    wanted[i] = static_cast<Tensor::DimOrderType>(order[i]);
    ET_CHECK_OR_RETURN_FALSE(out.dim_order()[i] == wanted[i],
                             "the output's dim order is not the wanted one");
  }
  ET_CHECK_OR_RETURN_FALSE(is_channels_last_dim_order(wanted, order.size()) ||
                               is_contiguous_dim_order(wanted, order.size()),
                           "a dim order that is neither contiguous nor channels last");
  return true;
}

inline bool check_unsqueeze_copy_args(const Tensor input, int64_t dim, const Tensor out) {
  if (!dim_is_valid(dim, out.dim()) || !tensors_have_same_dtype(input, out) ||
      !tensor_is_rank(out, static_cast<size_t>(input.dim() + 1))) {
    return false;
  }
  const int64_t d = internal::from_start(dim, out.dim());
  for (ssize_t i = 0; i < out.dim(); ++i) {
    const int64_t expected = i == d ? 1 : input.size(i < d ? i : i - 1);
    ET_CHECK_OR_RETURN_FALSE(out.size(i) == expected,
                             "size %zd of dimension %zd, expected %" PRId64, ssize_t(out.size(i)),
                             i, expected);
  }
  return true;
}

/// Writes the sizes with -1 worked out; false where the elements cannot have them.
inline bool get_view_copy_target_size(const Tensor input, ArrayRef<int64_t> size_int64_t,
                                      int64_t dim, Tensor::SizesType* out_sizes) {
  ET_CHECK_OR_RETURN_FALSE(dim == static_cast<int64_t>(size_int64_t.size()),
                           "%zu sizes for an output of %" PRId64 " dimensions", size_int64_t.size(),
                           dim);
  int64_t product = 1;
  int64_t unknown = -1;
  for (size_t i = 0; i < size_int64_t.size(); ++i) {
    if (size_int64_t[i] == -1) {
      ET_CHECK_OR_RETURN_FALSE(unknown == -1, "two sizes of -1");
      unknown = static_cast<int64_t>(i);
    } else {
      ET_CHECK_OR_RETURN_FALSE(size_int64_t[i] >= 0, "a size of %" PRId64, size_int64_t[i]);
      product *= size_int64_t[i];
      out_sizes[i] = static_cast<Tensor::SizesType>(size_int64_t[i]);
    }
  }
  if (unknown != -1) {
    ET_CHECK_OR_RETURN_FALSE(product > 0 && input.numel() % product == 0,
                             "%zd elements over %" PRId64, ssize_t(input.numel()), product);
    out_sizes[unknown] = static_cast<Tensor::SizesType>(input.numel() / product);
  }
  return true;
}

inline bool check_view_copy_args(const Tensor& self, ArrayRef<int64_t> size_int64_t, Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  if (size_int64_t.size() > kTensorDimensionLimit ||
      !get_view_copy_target_size(self, size_int64_t, out.dim(), sizes)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(self.numel() == out.numel(), "%zd elements for %zd",
                           ssize_t(self.numel()), ssize_t(out.numel()));
  return tensors_have_same_dtype(self, out) &&
         tensor_has_expected_size(out, {sizes, size_int64_t.size()});
}

inline bool check_diagonal_copy_args(const Tensor& in, int64_t dim1, int64_t dim2, Tensor& out) {
  if (!tensors_have_same_dtype(in, out) || !tensor_has_rank_greater_or_equal_to(in, 2) ||
      !tensor_has_dim(in, dim1) || !tensor_has_dim(in, dim2)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(
      internal::from_start(dim1, in.dim()) != internal::from_start(dim2, in.dim()),
      "a diagonal of one dimension");
  return true;
}
inline void get_diagonal_copy_out_target_size(const Tensor& in, int64_t offset, int64_t dim1,
                                              int64_t dim2, Tensor::SizesType* out_sizes,
                                              size_t* out_ndim) {
  const int64_t d1 = internal::from_start(dim1, in.dim());
  const int64_t d2 = internal::from_start(dim2, in.dim());
  *out_ndim = 0;
  for (ssize_t d = 0; d < in.dim(); ++d) {
    if (d != d1 && d != d2) {
      out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(in.size(d));
    }
  }
  const int64_t rows = in.size(static_cast<ssize_t>(d1)) + (offset < 0 ? offset : 0);
  const int64_t columns = in.size(static_cast<ssize_t>(d2)) - (offset > 0 ? offset : 0);
  const int64_t length = rows < columns ? rows : columns;
  out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(length < 0 ? 0 : length);
}

inline bool check_unfold_copy_args(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
  if (!dim_is_valid(dim, nonzero_dim(self))) {
    return false;
  }
  const int64_t available =
      nonempty_size(self, static_cast<ssize_t>(internal::from_start(dim, nonzero_dim(self))));
  ET_CHECK_OR_RETURN_FALSE(size >= 0 && size <= available,
                           "windows of %" PRId64 " in a dimension of %" PRId64, size, available);
  ET_CHECK_OR_RETURN_FALSE(step > 0, "a step of %" PRId64, step);
  return true;
}
inline void get_unfold_copy_out_target_size(const Tensor& self, int64_t dim, int64_t size,
                                            int64_t step, Tensor::SizesType* out_sizes,
                                            size_t* out_ndim) {
  internal::sizes_with(self, dim, 0, out_sizes, out_ndim);
  if (self.dim() > 0) {
    const int64_t d = internal::from_start(dim, self.dim());
    out_sizes[d] =
        static_cast<Tensor::SizesType>((self.size(static_cast<ssize_t>(d)) - size) / step + 1);
  }
  out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(size);
}

/// A last dimension of 2, for the parts.
inline void get_view_as_real_copy_out_target_size(const Tensor& self,
                                                  Tensor::SizesType* out_sizes) {
  for (ssize_t d = 0; d < self.dim(); ++d) {
    out_sizes[d] = static_cast<Tensor::SizesType>(self.size(d));
  }
  out_sizes[self.dim()] = 2;
}

}  // namespace executor
}  // namespace torch
