// SPDX-License-Identifier: BSD-3-Clause
// Questions about tensors, and the checks that kernels open with. Predicates that are named for a
// check log why they are false. ET_KERNEL_CHECK is for kernels; macros that end the program
// (ET_CHECK_...) are for existing sources and tests.
#pragma once

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

// ---- Checks in kernels
// ------------------------------------------------------------------------------------------------

/// In a kernel: fails `context` with Error::error and returns `retval` unless the condition holds.
#define ET_KERNEL_CHECK(context, cond, error, retval)    \
  do {                                                   \
    if (ET_UNLIKELY(!(cond))) {                          \
      ET_LOG(Error, "Check failed (%s): ", #cond);       \
      context.fail(::executorch::runtime::Error::error); \
      return retval;                                     \
    }                                                    \
  } while (0)

#define ET_KERNEL_CHECK_MSG(context, cond, error, retval, message, ...) \
  do {                                                                  \
    if (ET_UNLIKELY(!(cond))) {                                         \
      ET_LOG(Error, message, ##__VA_ARGS__);                            \
      context.fail(::executorch::runtime::Error::error);                \
      return retval;                                                    \
    }                                                                   \
  } while (0)

#define ET_LOG_MSG_AND_RETURN_IF_FALSE(cond, message, ...) \
  ET_CHECK_OR_RETURN_FALSE(cond, message, ##__VA_ARGS__)
#define ET_LOG_AND_RETURN_IF_FALSE(cond) ET_CHECK_OR_RETURN_FALSE(cond, "")

// ---- Checks that end the program
// ----------------------------------------------------------------------------------------

#define ET_TENSOR_CHECK_PREFIX__ "Tensors do not match"

#define ET_CHECK_VALID_IX(IX, UPPER_BOUND)                                                         \
  ET_CHECK_MSG(IX >= -static_cast<int64_t>(UPPER_BOUND) && IX < static_cast<int64_t>(UPPER_BOUND), \
               "index %" PRId64 " is not within [-%" PRId64 ", %" PRId64 ")",                      \
               static_cast<int64_t>(IX), static_cast<int64_t>(UPPER_BOUND),                        \
               static_cast<int64_t>(UPPER_BOUND))
#define ET_CHECK_VALID_DIM(DIM, UPPER_BOUND) ET_CHECK_VALID_IX(DIM, UPPER_BOUND)
#define ET_CHECK_NON_ZERO_DIM_SIZE(DIM, T) \
  ET_CHECK_MSG(T.size(DIM) != 0, "dimension %zd has size 0", ssize_t(DIM))

#define ET_CHECK_SAME_SHAPE2(a__, b__) \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_shape(a__, b__), ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_SHAPE3(a__, b__, c__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_shape(a__, b__, c__), \
               ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_DTYPE2(a__, b__) \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_dtype(a__, b__), ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_DTYPE3(a__, b__, c__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_dtype(a__, b__, c__), \
               ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_SHAPE_AND_DTYPE2(a__, b__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_shape_and_dtype(a__, b__), \
               ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_SHAPE_AND_DTYPE3(a__, b__, c__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_shape_and_dtype(a__, b__, c__), \
               ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_STRIDES2(a__, b__) \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_strides(a__, b__), ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_SAME_STRIDES3(a__, b__, c__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensors_have_same_strides(a__, b__, c__), \
               ET_TENSOR_CHECK_PREFIX__)
#define ET_CHECK_CONTIGUOUS(a__) \
  ET_CHECK_MSG(::executorch::runtime::tensor_is_contiguous(a__), "the tensor is not contiguous")
#define ET_CHECK_DEFAULT_OR_CHANNELSLAST_DIMORDER(t__)                                   \
  ET_CHECK_MSG(::executorch::runtime::tensor_is_default_or_channels_last_dim_order(t__), \
               "the dim order is neither contiguous nor channels last")
#define ET_EXTRACT_SCALAR_TENSOR(scalar_tensor, out_val)                              \
  ET_CHECK_MSG(::executorch::runtime::extract_scalar_tensor(scalar_tensor, &out_val), \
               "the tensor holds no single number of the wanted type")

// ---- Small arithmetic
// ---------------------------------------------------------------------------------------------------

/// An index that may count from the end, counted from the start.
#define ET_NORMALIZE_IX(IX, UPPER_BOUND) ((IX) < 0 ? (IX) + (UPPER_BOUND) : (IX))
#define ET_MIN2(a, b) ((a) < (b) ? (a) : (b))
#define ET_MIN3(a, b, c) ET_MIN2(a, ET_MIN2(b, c))

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;

// ---- Dimensions
// -----------------------------------------------------------------------------------------------------------

/// Whether `dim` names one of `upper_bound` dimensions, counted from the start or, negative, from
/// the end.
inline bool dim_is_valid(int64_t dim, int64_t upper_bound) {
  ET_CHECK_OR_RETURN_FALSE(dim >= -upper_bound && dim < upper_bound,
                           "dim %" PRId64 " is not within [-%" PRId64 ", %" PRId64 ")", dim,
                           upper_bound, upper_bound);
  return true;
}

/// Number of dimensions; 1 for a scalar.
inline ssize_t nonzero_dim(const Tensor& tensor) {
  return tensor.dim() == 0 ? 1 : tensor.dim();
}

/// Size of a dimension; 1 for a scalar.
inline ssize_t nonempty_size(const Tensor& tensor, ssize_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

/// Product of the sizes before `dim`, which must be within [0, dim()].
inline size_t getLeadingDims(const Tensor& tensor, int64_t dim) {
  ET_CHECK_MSG(dim >= 0 && dim <= tensor.dim(), "dim %" PRId64 " of a tensor of %zd dimensions",
               dim, ssize_t(tensor.dim()));
  size_t product = 1;
  for (int64_t i = 0; i < dim; ++i) {
    product *= static_cast<size_t>(tensor.size(i));
  }
  return product;
}

/// Product of the sizes after `dim`, which must be within [-1, dim()).
inline size_t getTrailingDims(const Tensor& tensor, int64_t dim) {
  ET_CHECK_MSG(dim >= -1 && dim < tensor.dim(), "dim %" PRId64 " of a tensor of %zd dimensions",
               dim, ssize_t(tensor.dim()));
  size_t product = 1;
  for (ssize_t i = static_cast<ssize_t>(dim) + 1; i < tensor.dim(); ++i) {
    product *= static_cast<size_t>(tensor.size(i));
  }
  return product;
}

/// Index of an element of a contiguous tensor, and back; `coordinate` has dim() entries.
inline size_t coordinateToIndex(const Tensor& tensor, const size_t* const coordinate) {
  size_t index = 0;
  for (ssize_t i = 0; i < tensor.dim(); ++i) {
    index = index * static_cast<size_t>(tensor.size(i)) + coordinate[i];
  }
  return index;
}
inline void indexToCoordinate(const Tensor& tensor, size_t index, size_t* coordinate) {
  for (ssize_t i = tensor.dim(); i-- > 0;) {
    const size_t size = static_cast<size_t>(tensor.size(i));
    coordinate[i] = size == 0 ? 0 : index % size;
    index = size == 0 ? 0 : index / size;
  }
}

/// getTrailingDims() of every dimension, for coordinateToIndexWithTrailingDimsMemo().
inline void memoizeTrailingDims(const Tensor& tensor,
                                size_t trailing_dims_memo[kTensorDimensionLimit]) {
  size_t product = 1;
  for (ssize_t i = tensor.dim(); i-- > 0;) {
    trailing_dims_memo[i] = product;
    product *= static_cast<size_t>(tensor.size(i));
  }
}
inline size_t coordinateToIndexWithTrailingDimsMemo(
    const Tensor& tensor, const size_t* const coordinate,
    const size_t trailing_dims_memo[kTensorDimensionLimit]) {
  size_t index = 0;
  for (ssize_t i = 0; i < tensor.dim(); ++i) {
    index += coordinate[i] * trailing_dims_memo[i];
  }
  return index;
}

/// Position of an element of a tensor with these strides.
inline size_t calculate_linear_index(const executorch::aten::SizesType* coordinate,
                                     const executorch::aten::StridesType* strides,
                                     const size_t ndim) {
  size_t index = 0;
  for (size_t i = 0; i < ndim; ++i) {
    index += static_cast<size_t>(coordinate[i]) * static_cast<size_t>(strides[i]);
  }
  return index;
}

// ---- Predicates
// -----------------------------------------------------------------------------------------------------------

bool tensor_is_rank(Tensor t, size_t rank);
bool tensor_has_rank_greater_or_equal_to(Tensor t, size_t rank);
bool tensor_has_rank_smaller_or_equal_to(Tensor t, size_t rank);
/// Whether dimension `d`, which may count from the end, exists; a scalar has one.
bool tensor_has_dim(Tensor t, int64_t d);
bool tensor_has_non_empty_dim(Tensor t, int64_t d);
/// Whether index `ix`, which may count from the end, lies within dimension `d`, which must exist.
bool tensor_dim_has_index(Tensor t, int64_t d, int64_t ix);
bool tensor_has_expected_size(
    Tensor a, executorch::aten::ArrayRef<executorch::aten::SizesType> expected_sizes);
/// Whether the tensor has one element and at most one dimension.
inline bool tensor_is_scalar(Tensor t) {
  return t.dim() == 0 || (t.dim() == 1 && t.numel() == 1);
}

bool tensor_is_type(Tensor t, ScalarType dtype);
bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2);
bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2, ScalarType dtype3);
bool tensor_is_bool_type(Tensor t);
bool tensor_is_integral_type(Tensor t, bool includeBool = false);
bool tensor_is_floating_type(Tensor t);
bool tensor_is_complex_type(Tensor t);
bool tensor_is_bits_type(Tensor t);
bool tensor_is_real_type(Tensor t);
bool tensor_is_realh_type(Tensor t);
bool tensor_is_realhb_type(Tensor t);
bool tensor_is_realhbf16_type(Tensor t);
bool tensor_is_realhbbf16_type(Tensor t);
/// Whether results of a's type may be stored as `dtype`; see canCast().
bool tensor_can_cast_to(Tensor a, ScalarType dtype);

bool tensors_have_same_shape(Tensor a, Tensor b);
bool tensors_have_same_shape(Tensor a, Tensor b, Tensor c);
bool tensors_have_same_dtype(Tensor a, Tensor b);
bool tensors_have_same_dtype(Tensor a, Tensor b, Tensor c);
bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b);
bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b, Tensor c);
bool tensors_have_same_rank(Tensor a, Tensor b);
bool tensors_have_same_size_at_dims(Tensor a, size_t dim_a, Tensor b, size_t dim_b);
bool tensors_have_same_strides(Tensor a, Tensor b);
bool tensors_have_same_strides(Tensor a, Tensor b, Tensor c);

/// Whether the strides are exactly those of the contiguous dim order, those of dimensions of size 1
/// among them.
bool tensor_is_contiguous(Tensor t);
bool tensor_is_default_dim_order(Tensor t);
bool tensor_is_channels_last_dim_order(Tensor t);
bool tensor_is_default_or_channels_last_dim_order(Tensor t);
/// Whether the dim order is a permutation of the dimensions.
bool tensor_has_valid_dim_order(Tensor t);
/// Whether all are contiguous or all channels last.
bool tensors_have_same_dim_order(const executorch::aten::ArrayRef<Tensor> tensor_list);
inline bool tensors_have_same_dim_order(const Tensor& a, const Tensor& b) {
  const Tensor list[] = {a, b};
  return tensors_have_same_dim_order(executorch::aten::ArrayRef<Tensor>(list));
}
inline bool tensors_have_same_dim_order(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor list[] = {a, b, c};
  return tensors_have_same_dim_order(executorch::aten::ArrayRef<Tensor>(list));
}
inline bool tensors_have_same_dim_order(const Tensor& a, const Tensor& b, const Tensor& c,
                                        const Tensor& d) {
  const Tensor list[] = {a, b, c, d};
  return tensors_have_same_dim_order(executorch::aten::ArrayRef<Tensor>(list));
}

// ---- Reading a number
// -----------------------------------------------------------------------------------------------------

/// *out_val = the only element of `tensor`; false when there is not one, its type is of another
/// kind, or the value does not fit. Integers from integral tensors, floating point from real ones,
/// bool from Bool.
template <typename INT_T,
          std::enable_if_t<std::is_integral_v<INT_T> && !std::is_same_v<INT_T, bool>, bool> = true>
bool extract_scalar_tensor(Tensor tensor, INT_T* out_val) {
  if (tensor.numel() != 1) {
    return false;
  }
#define CASE_INT_DTYPE(TENSOR_CTYPE, TENSOR_DTYPE)                                                \
  case ScalarType::TENSOR_DTYPE: {                                                                \
    const int64_t value = tensor.const_data_ptr<TENSOR_CTYPE>()[0];                               \
    if (value < static_cast<int64_t>(std::numeric_limits<INT_T>::min()) ||                        \
        (sizeof(INT_T) < 8 && value > static_cast<int64_t>(std::numeric_limits<INT_T>::max()))) { \
      return false;                                                                               \
    }                                                                                             \
    *out_val = static_cast<INT_T>(value);                                                         \
    return true;                                                                                  \
  }
  switch (tensor.scalar_type()) {
    ET_FORALL_INT_TYPES(CASE_INT_DTYPE)
    default:
      return false;
  }
#undef CASE_INT_DTYPE
}

template <typename FLOAT_T, std::enable_if_t<std::is_floating_point_v<FLOAT_T>, bool> = true>
bool extract_scalar_tensor(Tensor tensor, FLOAT_T* out_val) {
  if (tensor.numel() != 1) {
    return false;
  }
#define CASE_REAL_DTYPE(TENSOR_CTYPE, TENSOR_DTYPE)                                     \
  case ScalarType::TENSOR_DTYPE: {                                                      \
    const double value = static_cast<double>(tensor.const_data_ptr<TENSOR_CTYPE>()[0]); \
    if (std::isfinite(value) &&                                                         \
        std::abs(value) > static_cast<double>(std::numeric_limits<FLOAT_T>::max())) {   \
      return false;                                                                     \
    }                                                                                   \
    *out_val = static_cast<FLOAT_T>(value);                                             \
    return true;                                                                        \
  }
  switch (tensor.scalar_type()) {
    ET_FORALL_REALHBF16_TYPES(CASE_REAL_DTYPE)
    default:
      return false;
  }
#undef CASE_REAL_DTYPE
}

template <typename BOOL_T, std::enable_if_t<std::is_same_v<BOOL_T, bool>, bool> = true>
bool extract_scalar_tensor(Tensor tensor, BOOL_T* out_val) {
  if (tensor.scalar_type() != ScalarType::Bool || tensor.numel() != 1) {
    return false;
  }
  *out_val = tensor.const_data_ptr<bool>()[0];
  return true;
}

// ---- Shape changes
// ----------------------------------------------------------------------------------------------------------

}  // namespace ET_RUNTIME_NAMESPACE

namespace runtime {
namespace internal {

/// Room for the dim order of any tensor.
using DimOrderRoom = std::array<executorch::aten::DimOrderType, kTensorDimensionLimit>;

/// The dim order of a tensor, which may be written to `room`; empty when the tensor was made
/// without.
Span<const executorch::aten::DimOrderType> dim_order_of(const executorch::aten::Tensor& tensor,
                                                        DimOrderRoom& room);

/// What a resize of the tensor may do. PyTorch's tensors do not know: DYNAMIC_BOUND.
executorch::aten::TensorShapeDynamism shape_dynamism_of(const executorch::aten::Tensor& tensor);

ET_NODISCARD Error
resize_tensor_impl(executorch::aten::TensorImpl* impl,
                   executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes);

/// Gives a tensor other sizes, in this dim order, and other memory. The sizes become its capacity;
/// they must fit, and be as many as before.
void rebind_tensor(const executorch::aten::Tensor& tensor,
                   executorch::aten::ArrayRef<executorch::aten::SizesType> sizes,
                   Span<const executorch::aten::DimOrderType> dim_order, void* data);

/// Points a tensor at other memory of the same or a larger size.
void set_data(const executorch::aten::Tensor& tensor, void* data);

/// Points a tensor at other memory of `buffer_size` bytes: InvalidArgument when these are fewer
/// than the tensor's.
ET_NODISCARD Error set_tensor_data(const executorch::aten::Tensor& t, void* buffer,
                                   size_t buffer_size);

/// Points t_dst at the data of t_src, copies the data, or takes the data away. Both must have the
/// same number of bytes.
ET_NODISCARD Error share_tensor_data(const executorch::aten::Tensor& t_dst,
                                     const executorch::aten::Tensor& t_src);
ET_NODISCARD Error copy_tensor_data(const executorch::aten::Tensor& t_dst,
                                    const executorch::aten::Tensor& t_src);
void reset_data_ptr(const executorch::aten::Tensor& tensor);

/// A tensor over memory of the caller. All arrays have `rank` elements and outlive it, as the data
/// does.
class BorrowedTensor {
 public:
  BorrowedTensor(executorch::aten::ScalarType type, size_t rank, executorch::aten::SizesType* sizes,
                 void* data, executorch::aten::DimOrderType* dim_order,
                 executorch::aten::StridesType* strides,
                 TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);
  BorrowedTensor(const BorrowedTensor&) = delete;
  BorrowedTensor& operator=(const BorrowedTensor&) = delete;

  executorch::aten::Tensor get();

 private:
  std::conditional_t<std::is_trivially_copyable_v<executorch::aten::Tensor>,
                     executorch::aten::TensorImpl, executorch::aten::Tensor>
      held_;
};

}  // namespace internal
}  // namespace runtime

namespace ET_RUNTIME_NAMESPACE {

/// Changes the sizes of `t` within what its TensorShapeDynamism allows; NotSupported, with `t`
/// unchanged, beyond it.
ET_NODISCARD inline Error resize_tensor(
    Tensor t, executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  return executorch::runtime::internal::resize_tensor_impl(t.unsafeGetTensorImpl(), new_sizes);
}

/// The same with sizes of another integer type.
template <typename T, std::enable_if_t<!std::is_same_v<executorch::aten::SizesType, T>, int> = 0>
ET_NODISCARD inline Error resize_tensor(Tensor t, executorch::aten::ArrayRef<T> new_sizes) {
  std::array<executorch::aten::SizesType, kTensorDimensionLimit> sizes{};
  ET_CHECK_OR_RETURN_ERROR(new_sizes.size() <= sizes.size(), InvalidArgument,
                           "%zu dimensions, at most %zu", new_sizes.size(), sizes.size());
  for (size_t i = 0; i < new_sizes.size(); ++i) {
    const int64_t size = static_cast<int64_t>(new_sizes[i]);
    ET_CHECK_OR_RETURN_ERROR(
        size >= 0 && size <= std::numeric_limits<executorch::aten::SizesType>::max(),
        InvalidArgument, "size %" PRId64 " of dimension %zu", size, i);
    sizes[i] = static_cast<executorch::aten::SizesType>(size);
  }
  return resize_tensor(
      t, executorch::aten::ArrayRef<executorch::aten::SizesType>(sizes.data(), new_sizes.size()));
}

ET_DEPRECATED inline void resize(
    Tensor t, executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  const Error error = resize_tensor(t, new_sizes);
  ET_CHECK_MSG(error == Error::Ok, "could not resize: 0x%" PRIx32, static_cast<uint32_t>(error));
}

/// The dim order of `tensor` into an array of `out_dim_order_size` entries, which must be its
/// dimensions.
ET_NODISCARD Error get_dim_order(const Tensor& tensor,
                                 executorch::aten::DimOrderType* out_dim_order,
                                 size_t out_dim_order_size);

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::calculate_linear_index;
using ::executorch::runtime::coordinateToIndex;
using ::executorch::runtime::dim_is_valid;
using ::executorch::runtime::extract_scalar_tensor;
using ::executorch::runtime::get_dim_order;
using ::executorch::runtime::getLeadingDims;
using ::executorch::runtime::getTrailingDims;
using ::executorch::runtime::indexToCoordinate;
using ::executorch::runtime::kTensorDimensionLimit;
using ::executorch::runtime::nonempty_size;
using ::executorch::runtime::nonzero_dim;
using ::executorch::runtime::resize;
using ::executorch::runtime::resize_tensor;
using ::executorch::runtime::tensor_can_cast_to;
using ::executorch::runtime::tensor_dim_has_index;
using ::executorch::runtime::tensor_has_dim;
using ::executorch::runtime::tensor_has_expected_size;
using ::executorch::runtime::tensor_has_non_empty_dim;
using ::executorch::runtime::tensor_has_rank_greater_or_equal_to;
using ::executorch::runtime::tensor_has_rank_smaller_or_equal_to;
using ::executorch::runtime::tensor_has_valid_dim_order;
using ::executorch::runtime::tensor_is_bits_type;
using ::executorch::runtime::tensor_is_bool_type;
using ::executorch::runtime::tensor_is_complex_type;
using ::executorch::runtime::tensor_is_contiguous;
using ::executorch::runtime::tensor_is_default_dim_order;
using ::executorch::runtime::tensor_is_default_or_channels_last_dim_order;
using ::executorch::runtime::tensor_is_floating_type;
using ::executorch::runtime::tensor_is_integral_type;
using ::executorch::runtime::tensor_is_rank;
using ::executorch::runtime::tensor_is_real_type;
using ::executorch::runtime::tensor_is_realh_type;
using ::executorch::runtime::tensor_is_realhb_type;
using ::executorch::runtime::tensor_is_scalar;
using ::executorch::runtime::tensors_have_same_dim_order;
using ::executorch::runtime::tensors_have_same_dtype;
using ::executorch::runtime::tensors_have_same_rank;
using ::executorch::runtime::tensors_have_same_shape;
using ::executorch::runtime::tensors_have_same_shape_and_dtype;
using ::executorch::runtime::tensors_have_same_size_at_dims;
using ::executorch::runtime::tensors_have_same_strides;
}  // namespace torch::executor
namespace torch::executor::internal {
using ::executorch::runtime::internal::copy_tensor_data;
using ::executorch::runtime::internal::reset_data_ptr;
using ::executorch::runtime::internal::resize_tensor_impl;
using ::executorch::runtime::internal::set_tensor_data;
using ::executorch::runtime::internal::share_tensor_data;
}  // namespace torch::executor::internal
