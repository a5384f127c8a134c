// SPDX-License-Identifier: BSD-3-Clause
// Construction and resizing of tensors.
#include <executorch/runtime/core/portable_type/tensor_impl.h>

#include <limits>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>

namespace executorch {
namespace runtime {
namespace etensor {

namespace {

// Product of sizes; -1 for a negative size or when the product, or any partial product, does not
// fit.
ssize_t checked_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  constexpr size_t kMax = static_cast<size_t>(std::numeric_limits<ssize_t>::max());
  size_t numel = 1;
  bool has_zero = false;
  for (ssize_t i = 0; i < dim; ++i) {
    if (sizes[i] < 0) {
      return -1;
    }
    const size_t size = static_cast<size_t>(sizes[i]);
    has_zero = has_zero || size == 0;
    if (size != 0 && numel > kMax / size) {
      return -1;
    }
    numel *= size != 0 ? size : 1;
  }
  return has_zero ? 0 : static_cast<ssize_t>(numel);
}

}  // namespace

Result<ssize_t> safe_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  const ssize_t numel = dim >= 0 && (dim == 0 || sizes != nullptr) ? checked_numel(sizes, dim) : -1;
  ET_CHECK_OR_RETURN_ERROR(
      numel >= 0, InvalidArgument,
      "sizes of a tensor of %zd dimensions are negative or their product exceeds ssize_t", dim);
  return numel;
}

ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ET_CHECK_MSG(dim == 0 || sizes != nullptr, "no sizes for %zd dimensions", dim);
  const ssize_t numel = checked_numel(sizes, dim);
  ET_CHECK_MSG(numel >= 0, "negative size, or too many elements, in %zd dimensions", dim);
  return numel;
}

TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data,
                       DimOrderType* dim_order, StridesType* strides, TensorShapeDynamism dynamism,
                       DeviceType device_type, DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      numel_(compute_numel(sizes, dim)),
      numel_bound_(static_cast<size_t>(numel_)),
      dim_(static_cast<int32_t>(dim)),
      type_(type),
      shape_dynamism_(dynamism),
      element_size_(static_cast<uint8_t>(elementSize(type))),
      device_type_(device_type),
      device_index_(device_index) {
  ET_CHECK_MSG(isValid(type), "invalid scalar type %d", static_cast<int>(type));
  ET_CHECK_MSG(dim >= 0, "number of dimensions %zd is negative", dim);
  ET_CHECK_MSG(numel_ <= std::numeric_limits<ssize_t>::max() / element_size_,
               "%zd elements of %zd bytes", numel_, element_size());
}

Error TensorImpl::internal_resize_contiguous(ArrayRef<SizesType> new_sizes) {
  ET_CHECK_OR_RETURN_ERROR(
      new_sizes.size() == static_cast<size_t>(dim_), NotSupported,
      "Attempted to change the tensor rank which is immutable: old=%zd, new=%zu", dim(),
      new_sizes.size());
  if (new_sizes.equals(sizes())) {
    return Error::Ok;
  }
  const auto shape = [](ArrayRef<SizesType> sizes) {
    return tensor_shape_to_c_string(Span<const SizesType>(sizes.data(), sizes.size()));
  };
  ET_CHECK_OR_RETURN_ERROR(
      shape_dynamism_ != TensorShapeDynamism::STATIC, NotSupported,
      "Attempted to resize a static tensor. Expected shape %s, but received %s.",
      shape(sizes()).data(), shape(new_sizes).data());
  const auto new_numel = safe_numel(new_sizes.data(), dim_);
  if (!new_numel.ok()) {
    return new_numel.error();
  }
  ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(*new_numel) <= numel_bound_, NotSupported,
                           "Attempted to resize a bounded tensor with a maximum capacity of %zu "
                           "elements to %zu elements: "
                           "%s to %s.",
                           numel_bound_, static_cast<size_t>(*new_numel), shape(sizes()).data(),
                           shape(new_sizes).data());
  if (strides_ != nullptr && dim_order_ != nullptr) {
    // Before the sizes: it can fail.
    ET_CHECK_OK_OR_RETURN_ERROR(
        dim_order_to_stride(new_sizes.data(), dim_order_, new_sizes.size(), strides_));
  }
  for (int32_t i = 0; i < dim_; ++i) {
    sizes_[i] = new_sizes[i];
  }
  numel_ = *new_numel;
  return Error::Ok;
}

void TensorImpl::set_sizes_contiguous(ArrayRef<SizesType> new_sizes) {
  const Error error = internal_resize_contiguous(new_sizes);
  ET_CHECK_MSG(error == Error::Ok, "could not resize tensor: error 0x%" PRIx32,
               static_cast<uint32_t>(error));
}

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch
