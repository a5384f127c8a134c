// SPDX-License-Identifier: BSD-3-Clause
// Windows that slide over images, and checks and shapes of operators that have them; embeddings,
// padding by a constant, and other single operators.
#pragma once

#include <array>
#include <optional>

#include <executorch/kernels/portable/cpu/scalar_utils.h>
#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// Parameters of windows may be one number for all dimensions: the i-th, the only one, or a default
/// where there is none.
inline int64_t val_at(ArrayRef<int64_t> array, size_t i, int64_t default_value = 1) {
  return array.size() == 0 ? default_value : array.size() == 1 ? array[0] : array[i];
}

inline bool int_array_all_ge(ArrayRef<int64_t> array, int64_t val) {
  for (size_t i = 0; i < array.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(array[i] >= val,
                             "number %zu is %" PRId64 ", expected %" PRId64 " or more", i, array[i],
                             val);
  }
  return true;
}

namespace internal {
inline bool is_window_parameter(ArrayRef<int64_t> array, size_t ndim, bool allow_empty,
                                int64_t least, ET_UNUSED const char* what) {
  ET_CHECK_OR_RETURN_FALSE(
      (array.size() == 0 && allow_empty) || array.size() == 1 || array.size() == ndim,
      "%zu numbers of %s for %zu dimensions", array.size(), what, ndim);
  return int_array_all_ge(array, least);
}
}  // namespace internal

inline bool kernel_size_is_valid(ArrayRef<int64_t> kernel_size, size_t kernel_ndim) {
  return internal::is_window_parameter(kernel_size, kernel_ndim, false, 1, "the kernel's size");
}
inline bool stride_is_valid(ArrayRef<int64_t> stride, size_t kernel_ndim, bool allow_empty) {
  return internal::is_window_parameter(stride, kernel_ndim, allow_empty, 1, "stride");
}
inline bool padding_is_valid(ArrayRef<int64_t> padding, ArrayRef<int64_t> kernel_size,
                             size_t kernel_ndim, bool enforce_half_kernel = false) {
  if (!internal::is_window_parameter(padding, kernel_ndim, false, 0, "padding")) {
    return false;
  }
  for (size_t i = 0; enforce_half_kernel && i < padding.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(padding[i] <= val_at(kernel_size, i) / 2,
                             "padding %" PRId64 " of a kernel of %" PRId64, padding[i],
                             val_at(kernel_size, i));
  }
  return true;
}
inline bool dilation_is_valid(ArrayRef<int64_t> dilation, size_t kernel_ndim) {
  return internal::is_window_parameter(dilation, kernel_ndim, false, 1, "dilation");
}
inline bool output_padding_is_valid(ArrayRef<int64_t> output_padding, ArrayRef<int64_t> stride,
                                    ArrayRef<int64_t> dilation, size_t kernel_ndim) {
  if (!internal::is_window_parameter(output_padding, kernel_ndim, true, 0, "output padding")) {
    return false;
  }
  for (size_t i = 0; i < output_padding.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(
        output_padding[i] < val_at(stride, i) || output_padding[i] < val_at(dilation, i),
        "output padding %" PRId64 ", not below stride or dilation", output_padding[i]);
  }
  return true;
}
inline bool output_size_is_valid(ArrayRef<Tensor::SizesType> output_size, size_t kernel_ndim) {
  bool is_valid = true;
  const size_t rank = output_size.size();
  for (size_t i = rank < kernel_ndim ? 0 : rank - kernel_ndim; i < rank; ++i) {
    is_valid = is_valid && output_size[i] > 0;
  }
  ET_CHECK_OR_RETURN_FALSE(is_valid, "the windows leave an output of no size");
  return true;
}

/// The sizes and the dim order with a dimension of 1 put before dimension `unsqueeze_dim`.
inline void get_unsqueezed_sizes(const Tensor& t, int64_t unsqueeze_dim,
                                 Tensor::SizesType* sizes_arr, size_t& ndim) {
  ndim = static_cast<size_t>(t.dim()) + 1;
  for (size_t d = 0; d < ndim; ++d) {
    const size_t at = static_cast<size_t>(unsqueeze_dim);
    sizes_arr[d] = d == at ? 1 : t.sizes()[d < at ? d : d - 1];
  }
}
inline void get_unsqueezed_dim_order(const Tensor& t, Tensor::DimOrderType unsqueeze_dim,
                                     Tensor::DimOrderType* dim_order_arr) {
  size_t to = 0;
  for (const Tensor::DimOrderType dim : t.dim_order()) {
    if (dim == unsqueeze_dim) {
      dim_order_arr[to++] = dim;
    }
    dim_order_arr[to++] = static_cast<Tensor::DimOrderType>(dim >= unsqueeze_dim ? dim + 1 : dim);
  }
  if (unsqueeze_dim == t.dim()) {
    dim_order_arr[to] = unsqueeze_dim;
  }
}

/// How many windows fit: the last `kernel_ndim` sizes of `out_sizes`.
inline void calculate_kernel_output_sizes(const Tensor& in, size_t kernel_ndim,
                                          ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                          ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                          Tensor::SizesType* out_sizes, bool ceil_mode = false,
                                          bool transposed = false,
                                          ArrayRef<int64_t> output_padding = {}) {
  for (size_t i = 0; i < kernel_ndim; ++i) {
    const size_t dim = static_cast<size_t>(in.dim()) - kernel_ndim + i;
    const int64_t k = val_at(kernel_size, i), s = val_at(stride, i, k);
    const int64_t pad = val_at(padding, i, 0), reach = val_at(dilation, i) * (k - 1);
    const int64_t size = in.sizes()[dim];
    if (transposed) {
      out_sizes[dim] = static_cast<Tensor::SizesType>((size - 1) * s - 2 * pad + reach +
                                                      val_at(output_padding, i, 0) + 1);
      continue;
    }
    const int64_t room = size + 2 * pad - reach - 1;
    int64_t windows = (room + (ceil_mode ? s - 1 : 0)) / s + 1;
    // A window must begin inside the image or its left padding.
    if (ceil_mode && (windows - 1) * s >= size + pad) {
      --windows;
    }
    out_sizes[dim] = static_cast<Tensor::SizesType>(windows);
  }
}

/// For one window: reduce(value, where in the image, accumulated, where) -> tuple(accumulated,
/// where) over the window's elements, then map(count, accumulated) -> value. Elements in the
/// padding count, as zeros, if include_pad.
template <typename CTYPE, typename ReduceOp, typename MapOp>
void kernel_reduction_then_map_2d(
    const ReduceOp& reduce_fn, const MapOp& map_fn, const bool include_pad,
    const CTYPE* const in_ptr, const ArrayRef<Tensor::SizesType> in_sizes,
    const ArrayRef<Tensor::StridesType> in_strides, const ArrayRef<int64_t> kernel_size,
    const ArrayRef<int64_t> stride, const ArrayRef<int64_t> padding,
    const ArrayRef<int64_t> dilation, CTYPE* const out_ptr,
    const ArrayRef<Tensor::SizesType> out_sizes, const ArrayRef<Tensor::StridesType> out_strides,
    int64_t* const indices_ptr, const size_t batch, const size_t out_c) {
  const size_t rank = in_sizes.size();
  const int64_t in_h = in_sizes[rank - 2], in_w = in_sizes[rank - 1];
  const int64_t k_h = val_at(kernel_size, 0), k_w = val_at(kernel_size, 1);
  const auto offset = [&](ArrayRef<Tensor::StridesType> strides, int64_t y, int64_t x) {
    const size_t first = rank == 4 ? batch * static_cast<size_t>(strides[0]) : 0;
    return first + out_c * static_cast<size_t>(strides[rank - 3]) +
           static_cast<size_t>(y * strides[rank - 2] + x * strides[rank - 1]);
  };
  for (int64_t y = 0; y < out_sizes[rank - 2]; ++y) {
    for (int64_t x = 0; x < out_sizes[rank - 1]; ++x) {
      const int64_t top = y * val_at(stride, 0, k_h) - val_at(padding, 0, 0);
      const int64_t left = x * val_at(stride, 1, k_w) - val_at(padding, 1, 0);
      CTYPE accumulated = 0;
      int64_t where = 0;
      int64_t count = 0;
      bool is_first = true;
      for (int64_t i = 0; i < k_h; ++i) {
        for (int64_t j = 0; j < k_w; ++j) {
          const int64_t in_y = top + i * val_at(dilation, 0);
          const int64_t in_x = left + j * val_at(dilation, 1);
          const bool is_inside = in_y >= 0 && in_y < in_h && in_x >= 0 && in_x < in_w;
          // Padding ends one padding after the image; a window may reach further with ceil_mode.
          const bool is_padding =
              in_y < in_h + val_at(padding, 0, 0) && in_x < in_w + val_at(padding, 1, 0);
          if (!is_inside) {
            count += include_pad && is_padding;
            continue;
          }
          ++count;
          const CTYPE value = in_ptr[offset(in_strides, in_y, in_x)];
          const int64_t position = in_y * in_w + in_x;
          if (is_first) {
            accumulated = value;
            where = position;
            is_first = false;
          } else {
            std::tie(accumulated, where) = reduce_fn(value, position, accumulated, where);
          }
        }
      }
      const size_t to = offset(out_strides, y, x);
      out_ptr[to] = map_fn(count, accumulated);
      if (indices_ptr != nullptr) {
        indices_ptr[to] = where;
      }
    }
  }
}

/// The same for every channel of every image.
template <typename CTYPE, typename ReduceOp, typename MapOp>
void apply_kernel_2d_reduce_then_map_fn(const ReduceOp& reduce_fn, const MapOp& map_fn,
                                        const bool include_pad, const Tensor& in,
                                        const ArrayRef<int64_t> kernel_size,
                                        const ArrayRef<int64_t> stride,
                                        const ArrayRef<int64_t> padding,
                                        const ArrayRef<int64_t> dilation, Tensor& out,
                                        std::optional<Tensor> indices = {}) {
  const size_t batches = in.dim() == 4 ? static_cast<size_t>(in.size(0)) : 1;
  const size_t channels = static_cast<size_t>(in.size(in.dim() - 3));
  for (size_t batch = 0; batch < batches; ++batch) {
    for (size_t channel = 0; channel < channels; ++channel) {
      kernel_reduction_then_map_2d<CTYPE>(
          reduce_fn, map_fn, include_pad, in.const_data_ptr<CTYPE>(), in.sizes(), in.strides(),
          kernel_size, stride, padding, dilation, out.mutable_data_ptr<CTYPE>(), out.sizes(),
          out.strides(), indices.has_value() ? indices->mutable_data_ptr<int64_t>() : nullptr,
          batch, channel);
    }
  }
}

// ---- Checks and shapes of single operators.

namespace internal {
inline bool is_image(const Tensor& in) {
  ET_CHECK_OR_RETURN_FALSE((in.dim() == 3 && in.numel() > 0) || (in.dim() == 4 && in.size(1) > 0 &&
                                                                 in.size(2) > 0 && in.size(3) > 0),
                           "expected an image of 3 or 4 dimensions, found %zd", ssize_t(in.dim()));
  return true;
}
inline void image_sizes(const Tensor& in, Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(in.dim());
  for (size_t d = 0; d < *out_ndim; ++d) {
    out_sizes[d] = in.sizes()[d];
  }
}
}  // namespace internal

inline bool check_arange_args(double start, double end, double step, Tensor& out) {
  if (!tensor_is_rank(out, 1)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE((step > 0 && end >= start) || (step < 0 && end <= start),
                           "%f to %f by %f", start, end, step);
  return true;
}

inline bool check_adaptive_avg_pool2d_args(const Tensor& in, const ArrayRef<int64_t> output_size,
                                           const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(output_size.size() == 2, "%zu sizes of an image", output_size.size());
  return tensors_have_same_dtype(in, out) && internal::is_image(in) &&
         int_array_all_ge(output_size, 0);
}
inline void get_adaptive_avg_pool2d_out_target_size(const Tensor& in,
                                                    const ArrayRef<int64_t> output_size,
                                                    Tensor::SizesType* out_sizes,
                                                    size_t* out_ndim) {
  internal::image_sizes(in, out_sizes, out_ndim);
  out_sizes[*out_ndim - 2] = static_cast<Tensor::SizesType>(output_size[0]);
  out_sizes[*out_ndim - 1] = static_cast<Tensor::SizesType>(output_size[1]);
}

inline bool check_avg_pool2d_args(const Tensor& in, const ArrayRef<int64_t> kernel_size,
                                  const ArrayRef<int64_t> stride, const ArrayRef<int64_t> padding,
                                  const bool ceil_mode, const bool count_include_pad,
                                  const std::optional<int64_t>& divisor_override,
                                  const Tensor& out) {
  (void)ceil_mode;  // either value will do
  (void)count_include_pad;
  if (!tensors_have_same_dtype(in, out) || !internal::is_image(in) ||
      !kernel_size_is_valid(kernel_size, 2) || !stride_is_valid(stride, 2, /*allow_empty=*/true) ||
      !padding_is_valid(padding, kernel_size, 2, /*enforce_half_kernel=*/true)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(!divisor_override.has_value() || *divisor_override != 0,
                           "a divisor of 0");
  return true;
}
inline void get_avg_pool2d_out_target_size(const Tensor& in, const ArrayRef<int64_t> kernel_size,
                                           const ArrayRef<int64_t> stride,
                                           const ArrayRef<int64_t> padding, const bool ceil_mode,
                                           Tensor::SizesType* const out_sizes,
                                           size_t* const out_ndim) {
  internal::image_sizes(in, out_sizes, out_ndim);
  calculate_kernel_output_sizes(in, 2, kernel_size, stride, padding, {}, out_sizes, ceil_mode);
}

inline bool check_max_pool2d_with_indices_args(const Tensor& in, ArrayRef<int64_t> kernel_size,
                                               ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                               ArrayRef<int64_t> dilation, bool ceil_mode,
                                               Tensor& out, Tensor& indices) {
  (void)ceil_mode;  // either value will do
  return tensors_have_same_dtype(in, out) &&
         ::executorch::runtime::tensor_is_type(indices, ScalarType::Long) &&
         internal::is_image(in) && kernel_size_is_valid(kernel_size, 2) &&
         stride_is_valid(stride, 2, /*allow_empty=*/true) &&
         padding_is_valid(padding, kernel_size, 2, /*enforce_half_kernel=*/true) &&
         dilation_is_valid(dilation, 2);
}
inline void get_max_pool2d_with_indices_out_target_size(
    const Tensor& in, ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
    ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, bool ceil_mode,
    Tensor::SizesType* out_sizes, size_t* out_ndim) {
  internal::image_sizes(in, out_sizes, out_ndim);
  calculate_kernel_output_sizes(in, 2, kernel_size, stride, padding, dilation, out_sizes,
                                ceil_mode);
}

/// `in` and `weight` have 3 or 4 dimensions: images of one or two.
inline bool check_convolution_args(const Tensor& in, const Tensor& weight,
                                   const std::optional<Tensor>& bias, ArrayRef<int64_t> stride,
                                   ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                   bool transposed, ArrayRef<int64_t> output_padding,
                                   int64_t groups, const Tensor& out) {
  if (!tensors_have_same_dtype(in, weight, out) ||
      !tensor_is_default_or_channels_last_dim_order(in) ||
      !tensor_is_default_or_channels_last_dim_order(weight) ||
      !tensor_is_default_or_channels_last_dim_order(out)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE((in.dim() == 3 || in.dim() == 4) && weight.dim() == in.dim(),
                           "an input of %zd dimensions and a weight of %zd", ssize_t(in.dim()),
                           ssize_t(weight.dim()));
  ET_CHECK_OR_RETURN_FALSE(groups > 0, "%" PRId64 " groups", groups);
  const int64_t channels = in.size(1);
  const int64_t out_channels = transposed ? weight.size(1) * groups : weight.size(0);
  ET_CHECK_OR_RETURN_FALSE(transposed
                               ? weight.size(0) == channels && channels % groups == 0
                               : weight.size(1) * groups == channels && out_channels % groups == 0,
                           "%" PRId64 " channels in %" PRId64 " groups, for a weight of %zd by %zd",
                           channels, groups, ssize_t(weight.size(0)), ssize_t(weight.size(1)));
  if (bias.has_value()) {
    if (!tensor_is_rank(*bias, 1)) {
      return false;
    }
    ET_CHECK_OR_RETURN_FALSE(bias->size(0) == out_channels, "a bias of %zd for %" PRId64,
                             ssize_t(bias->size(0)), out_channels);
  }
  const size_t kernel_ndim = static_cast<size_t>(weight.dim() - 2);
  int64_t kernel_size[2] = {};
  for (size_t i = 0; i < kernel_ndim; ++i) {
    kernel_size[i] = weight.size(static_cast<ssize_t>(i + 2));
  }
  return stride_is_valid(stride, kernel_ndim, /*allow_empty=*/false) &&
         padding_is_valid(padding, {kernel_size, kernel_ndim}, kernel_ndim) &&
         dilation_is_valid(dilation, kernel_ndim) &&
         (!transposed || output_padding_is_valid(output_padding, stride, dilation, kernel_ndim));
}
inline void get_convolution_out_target_size(const Tensor& in, const Tensor& weight,
                                            ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                            ArrayRef<int64_t> dilation, bool transposed,
                                            ArrayRef<int64_t> output_padding, int64_t groups,
                                            Tensor::SizesType* out_sizes, size_t* out_ndim) {
  internal::image_sizes(in, out_sizes, out_ndim);
  out_sizes[1] =
      static_cast<Tensor::SizesType>(transposed ? weight.size(1) * groups : weight.size(0));
  const size_t kernel_ndim = static_cast<size_t>(weight.dim() - 2);
  int64_t kernel_size[kTensorDimensionLimit] = {};
  for (size_t i = 0; i < kernel_ndim; ++i) {
    kernel_size[i] = weight.size(static_cast<ssize_t>(i + 2));
  }
  calculate_kernel_output_sizes(in, kernel_ndim, {kernel_size, kernel_ndim}, stride, padding,
                                dilation, out_sizes, false, transposed, output_padding);
}

inline bool check_cumsum_args(const Tensor& self, int64_t dim,
                              std::optional<ScalarType> enforced_dtype, Tensor& out) {
  if (self.dim() == 0 ? !(dim == 0 || dim == -1) : !dim_is_valid(dim, self.dim())) {
    return false;
  }
  if (enforced_dtype.has_value()) {
    return ::executorch::runtime::tensor_is_type(out, *enforced_dtype);
  }
  return isIntegralType(self.scalar_type(), /*includeBool=*/true)
             ? ::executorch::runtime::tensor_is_type(out, ScalarType::Long)
             : tensors_have_same_dtype(self, out);
}

inline bool check_masked_fill_args(const Tensor& in, const Tensor& mask, const Scalar& value,
                                   Tensor& out) {
  (void)value;  // the kernel converts it
  return tensors_have_same_dtype(in, out) && tensor_is_bool_type(mask);
}

/// Two numbers for each padded dimension, the last one first.
inline bool check_constant_pad_args(const Tensor& in, ArrayRef<int64_t> pad, const Scalar& value,
                                    Tensor& out) {
  (void)value;  // the kernel converts it
  if (!tensors_have_same_dtype(in, out) || !tensors_have_same_rank(in, out)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(in.dim()),
                           "%zu numbers of padding for %zd dimensions", pad.size(),
                           ssize_t(in.dim()));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t size = in.sizes()[static_cast<size_t>(in.dim()) - 1 - i];
    ET_CHECK_OR_RETURN_FALSE(size + pad[2 * i] + pad[2 * i + 1] >= 0,
                             "padding (%" PRId64 ", %" PRId64 ") of size %" PRId64, pad[2 * i],
                             pad[2 * i + 1], size);
  }
  return true;
}
inline Error resize_constant_pad_output(const Tensor& in, ArrayRef<int64_t> pad, Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t rank = 0;
  internal::image_sizes(in, sizes, &rank);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    sizes[rank - 1 - i] += static_cast<Tensor::SizesType>(pad[2 * i] + pad[2 * i + 1]);
  }
  return resize_tensor(out, {sizes, rank});
}

inline bool check_embedding_args(const Tensor& weight, const Tensor& indices, const Tensor& out) {
  return tensor_is_rank(weight, 2) &&
         ::executorch::runtime::tensor_is_type(indices, ScalarType::Int, ScalarType::Long) &&
         tensors_have_same_dtype(weight, out);
}
inline Error resize_embedding_output(const Tensor& weight, const Tensor& indices,
                                     const Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  ET_CHECK_OR_RETURN_ERROR(indices.dim() < static_cast<ssize_t>(kTensorDimensionLimit),
                           InvalidArgument, "%zd dimensions of indices", ssize_t(indices.dim()));
  size_t rank = 0;
  internal::image_sizes(indices, sizes, &rank);
  sizes[rank++] = static_cast<Tensor::SizesType>(weight.size(1));
  return resize_tensor(out, {sizes, rank});
}

/// A factor is of a kind that goes with what is computed.
inline bool check_alpha_type(const ScalarType alpha_type, const ScalarType common_type) {
  ET_CHECK_OR_RETURN_FALSE(
      canCast(alpha_type, common_type) ||
          (common_type == ScalarType::Bool && isIntegralType(alpha_type, true)),
      "a factor of type %s for %s", toString(alpha_type), toString(common_type));
  return true;
}

}  // namespace executor
}  // namespace torch
