// SPDX-License-Identifier: BSD-3-Clause
// Predicates over tensors that kernels ask, with the reason when they do not hold.
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

namespace {

// Logs what is expected of a tensor's type unless `is_accepted`.
bool is_type_of(bool is_accepted, const Tensor& t, ET_UNUSED const char* expected) {
  ET_CHECK_OR_RETURN_FALSE(is_accepted, "expected a tensor of %s type, found %s", expected,
                           toString(t.scalar_type()));
  return true;
}

bool has_contiguous_dim_order(const Tensor& t) {
  runtime::internal::DimOrderRoom room;
  const auto dim_order = runtime::internal::dim_order_of(t, room);
  return is_contiguous_dim_order(dim_order.data(), dim_order.size());
}

bool has_channels_last_dim_order(const Tensor& t) {
  runtime::internal::DimOrderRoom room;
  const auto dim_order = runtime::internal::dim_order_of(t, room);
  return is_channels_last_dim_order(dim_order.data(), dim_order.size());
}

}  // namespace

bool tensor_is_rank(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) == rank,
                           "expected %zu dimensions, found %zd", rank, t.dim());
  return true;
}

bool tensor_has_rank_greater_or_equal_to(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) >= rank,
                           "expected at least %zu dimensions, found %zd", rank, t.dim());
  return true;
}

bool tensor_has_rank_smaller_or_equal_to(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) <= rank,
                           "expected at most %zu dimensions, found %zd", rank, t.dim());
  return true;
}

bool tensor_has_dim(Tensor t, int64_t d) {
  return dim_is_valid(d, nonzero_dim(t));
}

bool tensor_has_non_empty_dim(Tensor t, int64_t d) {
  if (!tensor_has_dim(t, d)) {
    return false;
  }
  const ssize_t dim = static_cast<ssize_t>(ET_NORMALIZE_IX(d, nonzero_dim(t)));
  ET_CHECK_OR_RETURN_FALSE(nonempty_size(t, dim) != 0, "dimension %zd has size 0", dim);
  return true;
}

bool tensor_dim_has_index(Tensor t, int64_t d, int64_t ix) {
  ET_CHECK_MSG(d >= -t.dim() && d < t.dim(), "dim %" PRId64 " of a tensor of %zd dimensions", d,
               t.dim());
  const int64_t size = t.size(static_cast<ssize_t>(ET_NORMALIZE_IX(d, t.dim())));
  ET_CHECK_OR_RETURN_FALSE(ix >= -size && ix < size,
                           "index %" PRId64 " of dimension %" PRId64 " of size %" PRId64, ix, d,
                           size);
  return true;
}

bool tensor_has_expected_size(
    Tensor a, executorch::aten::ArrayRef<executorch::aten::SizesType> expected_sizes) {
  if (!tensor_is_rank(a, expected_sizes.size())) {
    return false;
  }
  for (size_t i = 0; i < expected_sizes.size(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(a.sizes()[i] == expected_sizes[i],
                             "expected size %" ET_PRI_SIZES_AND_STRIDES
                             " of dimension %zu, found %" ET_PRI_SIZES_AND_STRIDES,
                             expected_sizes[i], i, a.sizes()[i]);
  }
  return true;
}

bool tensor_is_type(Tensor t, ScalarType dtype) {
  return is_type_of(t.scalar_type() == dtype, t, toString(dtype));
}

bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2) {
  ET_CHECK_OR_RETURN_FALSE(t.scalar_type() == dtype || t.scalar_type() == dtype2,
                           "expected a tensor of type %s or %s, found %s", toString(dtype),
                           toString(dtype2), toString(t.scalar_type()));
  return true;
}

bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2, ScalarType dtype3) {
  ET_CHECK_OR_RETURN_FALSE(
      t.scalar_type() == dtype || t.scalar_type() == dtype2 || t.scalar_type() == dtype3,
      "expected a tensor of type %s, %s or %s, found %s", toString(dtype), toString(dtype2),
      toString(dtype3), toString(t.scalar_type()));
  return true;
}

bool tensor_is_bool_type(Tensor t) {
  return is_type_of(t.scalar_type() == ScalarType::Bool, t, "Bool");
}

bool tensor_is_integral_type(Tensor t, bool includeBool) {
  return is_type_of(isIntegralType(t.scalar_type(), includeBool), t, "an integral");
}

bool tensor_is_floating_type(Tensor t) {
  return is_type_of(isFloatingType(t.scalar_type()), t, "a floating");
}

bool tensor_is_complex_type(Tensor t) {
  return is_type_of(isComplexType(t.scalar_type()), t, "a complex");
}

bool tensor_is_bits_type(Tensor t) {
  return is_type_of(isBitsType(t.scalar_type()), t, "a bits");
}

bool tensor_is_real_type(Tensor t) {
  return is_type_of(isRealType(t.scalar_type()), t, "a real");
}

bool tensor_is_realh_type(Tensor t) {
  return is_type_of(isRealHType(t.scalar_type()), t, "a real or Half");
}

bool tensor_is_realhb_type(Tensor t) {
  return is_type_of(isRealHBType(t.scalar_type()), t, "a real, Half or Bool");
}

bool tensor_is_realhbf16_type(Tensor t) {
  return is_type_of(isRealHBF16Type(t.scalar_type()), t, "a real, Half or BFloat16");
}

bool tensor_is_realhbbf16_type(Tensor t) {
  return is_type_of(isRealHBBF16Type(t.scalar_type()), t, "a real, Half, BFloat16 or Bool");
}

bool tensor_can_cast_to(Tensor a, ScalarType dtype) {
  ET_CHECK_OR_RETURN_FALSE(canCast(a.scalar_type(), dtype), "%s cannot be stored as %s",
                           toString(a.scalar_type()), toString(dtype));
  return true;
}

bool tensors_have_same_shape(Tensor a, Tensor b) {
  // Scalars and tensors of one element are alike, whatever their rank.
  if (a.numel() == 1 && b.numel() == 1) {
    return true;
  }
  return tensors_have_same_rank(a, b) && tensor_has_expected_size(a, b.sizes());
}

bool tensors_have_same_shape(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_shape(a, b) && tensors_have_same_shape(b, c);
}

bool tensors_have_same_dtype(Tensor a, Tensor b) {
  ET_CHECK_OR_RETURN_FALSE(a.scalar_type() == b.scalar_type(), "tensors of types %s and %s",
                           toString(a.scalar_type()), toString(b.scalar_type()));
  return true;
}

bool tensors_have_same_dtype(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_dtype(a, b) && tensors_have_same_dtype(b, c);
}

bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b) {
  return tensors_have_same_shape(a, b) && tensors_have_same_dtype(a, b);
}

bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_shape(a, b, c) && tensors_have_same_dtype(a, b, c);
}

bool tensors_have_same_rank(Tensor a, Tensor b) {
  ET_CHECK_OR_RETURN_FALSE(a.dim() == b.dim(), "tensors of %zd and %zd dimensions", a.dim(),
                           b.dim());
  return true;
}

bool tensors_have_same_size_at_dims(Tensor a, size_t dim_a, Tensor b, size_t dim_b) {
  ET_CHECK_OR_RETURN_FALSE(
      dim_a < static_cast<size_t>(a.dim()) && dim_b < static_cast<size_t>(b.dim()),
      "dimension %zu of %zd, or %zu of %zd", dim_a, a.dim(), dim_b, b.dim());
  ET_CHECK_OR_RETURN_FALSE(a.sizes()[dim_a] == b.sizes()[dim_b],
                           "dimension %zu has size %" ET_PRI_SIZES_AND_STRIDES
                           ", but dimension %zu of the other %" ET_PRI_SIZES_AND_STRIDES,
                           dim_a, a.sizes()[dim_a], dim_b, b.sizes()[dim_b]);
  return true;
}

bool tensors_have_same_strides(Tensor a, Tensor b) {
  ET_CHECK_OR_RETURN_FALSE(a.strides() == b.strides(), "the tensors have different strides");
  return true;
}

bool tensors_have_same_strides(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_strides(a, b) && tensors_have_same_strides(b, c);
}

bool tensor_is_contiguous(Tensor t) {
  if (t.strides().empty()) {
    return has_contiguous_dim_order(t);
  }
  int64_t expected = 1;
  for (ssize_t i = t.dim(); i-- > 0;) {
    ET_CHECK_OR_RETURN_FALSE(t.strides()[static_cast<size_t>(i)] == expected,
                             "expected stride %" PRId64
                             " of dimension %zd, found %" ET_PRI_SIZES_AND_STRIDES,
                             expected, i, t.strides()[static_cast<size_t>(i)]);
    expected *= t.size(i) == 0 ? 1 : t.size(i);
  }
  return true;
}

bool tensor_is_default_dim_order(Tensor t) {
  ET_CHECK_OR_RETURN_FALSE(has_contiguous_dim_order(t), "expected a contiguous dim order");
  return true;
}

bool tensor_is_channels_last_dim_order(Tensor t) {
  ET_CHECK_OR_RETURN_FALSE(has_channels_last_dim_order(t), "expected a channels last dim order");
  return true;
}

bool tensor_is_default_or_channels_last_dim_order(Tensor t) {
  ET_CHECK_OR_RETURN_FALSE(has_contiguous_dim_order(t) || has_channels_last_dim_order(t),
                           "expected a contiguous or channels last dim order");
  return true;
}

bool tensor_has_valid_dim_order(Tensor t) {
  runtime::internal::DimOrderRoom room;
  const auto dim_order = runtime::internal::dim_order_of(t, room);
  ET_CHECK_OR_RETURN_FALSE(is_valid_dim_order(dim_order.data(), dim_order.size()),
                           "the dim order is not a permutation of %zd dimensions", t.dim());
  return true;
}

bool tensors_have_same_dim_order(const executorch::aten::ArrayRef<Tensor> tensor_list) {
  bool all_contiguous = true;
  bool all_channels_last = true;
  for (const Tensor& t : tensor_list) {
    all_contiguous = all_contiguous && has_contiguous_dim_order(t);
    all_channels_last = all_channels_last && has_channels_last_dim_order(t);
  }
  ET_CHECK_OR_RETURN_FALSE(all_contiguous || all_channels_last,
                           "expected %zu tensors that are all contiguous or all channels last",
                           tensor_list.size());
  return true;
}

Error get_dim_order(const Tensor& tensor, executorch::aten::DimOrderType* out_dim_order,
                    size_t out_dim_order_size) {
  runtime::internal::DimOrderRoom room;
  const auto dim_order = runtime::internal::dim_order_of(tensor, room);
  ET_CHECK_OR_RETURN_ERROR(out_dim_order_size == dim_order.size(), InvalidArgument,
                           "an array of %zu for a dim order of %zu", out_dim_order_size,
                           dim_order.size());
  for (size_t i = 0; i < out_dim_order_size; ++i) {
    out_dim_order[i] = dim_order[i];
  }
  return Error::Ok;
}

}  // namespace ET_RUNTIME_NAMESPACE

namespace runtime {
namespace internal {

Error set_tensor_data(const executorch::aten::Tensor& t, void* buffer, size_t buffer_size) {
  ET_CHECK_OR_RETURN_ERROR(buffer_size >= t.nbytes(), InvalidArgument,
                           "buffer of %zu bytes is smaller than the tensor of %zu", buffer_size,
                           t.nbytes());
  set_data(t, buffer);
  return Error::Ok;
}

Error share_tensor_data(const executorch::aten::Tensor& t_dst,
                        const executorch::aten::Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == t_src.nbytes(), InvalidArgument,
                           "the tensor of %zu bytes cannot share data of %zu bytes", t_dst.nbytes(),
                           t_src.nbytes());
  ET_CHECK_OR_RETURN_ERROR(t_src.nbytes() == 0 || t_src.const_data_ptr() != nullptr,
                           InvalidArgument, "the tensor to share with has no data");
  set_data(t_dst, t_dst.numel() == 0 ? nullptr : t_src.mutable_data_ptr());
  return Error::Ok;
}

Error copy_tensor_data(const executorch::aten::Tensor& t_dst,
                       const executorch::aten::Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == t_src.nbytes(), InvalidArgument,
                           "cannot copy %zu bytes into a tensor of %zu", t_src.nbytes(),
                           t_dst.nbytes());
  if (t_src.nbytes() == 0) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(t_dst.const_data_ptr() != nullptr && t_src.const_data_ptr() != nullptr,
                           InvalidArgument, "a tensor to copy has no data");
  std::memmove(t_dst.mutable_data_ptr(), t_src.const_data_ptr(), t_src.nbytes());
  return Error::Ok;
}

void reset_data_ptr(const executorch::aten::Tensor& tensor) {
  set_data(tensor, nullptr);
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
