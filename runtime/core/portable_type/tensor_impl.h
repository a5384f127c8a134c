// SPDX-License-Identifier: BSD-3-Clause
// TensorImpl: what a Tensor points to - type, shape, dim order, strides and data. Owns none of
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/assert.h>

// printf conversions for what tensors return.
#define ET_PRI_TENSOR_SIZE ET_PRIssize_t
#define ET_PRI_TENSOR_DIM ET_PRIssize_t
#define ET_PRI_TENSOR_NUMEL ET_PRIssize_t
#define ET_PRI_SIZES_AND_STRIDES PRId32

namespace executorch {
namespace runtime {
namespace etensor {
class TensorImpl;
}  // namespace etensor

namespace internal {
class TensorResizerFriend;
}  // namespace internal

namespace etensor {

/// All arrays handed to the constructor must outlive the object and have `dim` elements. One thread
/// at a time may change it.
class TensorImpl {
 public:
  using SizesType = int32_t;
  using DimOrderType = uint8_t;
  using StridesType = int32_t;

  TensorImpl() = delete;

  /// A tensor of `dim` dimensions. `data` may come later through set_data(). `dim_order` lists the
  /// dimensions from the outermost to the innermost, `strides` are in elements; both follow the
  /// sizes of a tensor with dynamic shape. Sizes must not be negative and the bytes must fit
  /// ssize_t: check untrusted sizes with safe_numel() first.
  TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data = nullptr,
             DimOrderType* dim_order = nullptr, StridesType* strides = nullptr,
             TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC,
             DeviceType device_type = DeviceType::CPU, DeviceIndex device_index = 0);

  /// Bytes of all elements.
  size_t nbytes() const { return static_cast<size_t>(numel_) * element_size_; }
  /// Size of dimension `dim`; ends the program unless it is within [0, dim()).
  ssize_t size(ssize_t dim) const {
    ET_CHECK_MSG(dim >= 0 && dim < dim_, "dimension %zd of %zd", dim, ssize_t(dim_));
    return sizes_[dim];
  }
  ssize_t dim() const { return dim_; }
  ssize_t numel() const { return numel_; }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  /// Bytes of one element.
  ssize_t element_size() const { return element_size_; }

  const ArrayRef<SizesType> sizes() const { return {sizes_, static_cast<size_t>(dim_)}; }
  const ArrayRef<DimOrderType> dim_order() const {
    return {dim_order_, dim_order_ == nullptr ? 0 : static_cast<size_t>(dim_)};
  }
  const ArrayRef<StridesType> strides() const {
    return {strides_, strides_ == nullptr ? 0 : static_cast<size_t>(dim_)};
  }
  TensorShapeDynamism shape_dynamism() const { return shape_dynamism_; }

  Device device() const { return {device_type_, device_index_}; }
  DeviceType device_type() const { return device_type_; }
  DeviceIndex device_index() const { return device_index_; }

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  const void* data() const { return data_; }
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(data_);
  }
  void* mutable_data() const { return data_; }

  /// Points the tensor at other memory, of at least nbytes() bytes. The previous memory is not
  /// freed.
  void set_data(void* ptr) { data_ = ptr; }

  /// Changes the sizes; ends the program where resize_tensor() would return an error.
  ET_DEPRECATED void set_sizes_contiguous(ArrayRef<SizesType> new_sizes);

 private:
  friend class ::executorch::runtime::internal::TensorResizerFriend;

  // Changes the sizes and recomputes the strides from the dim order. Refuses, leaving the tensor as
  // it was, another rank, any change of a static tensor, and more elements than the tensor was made
  // with.
  ET_NODISCARD Error internal_resize_contiguous(ArrayRef<SizesType> new_sizes);

  SizesType* sizes_;
  DimOrderType* dim_order_;
  StridesType* strides_;
  void* data_;
  ssize_t numel_;
  // Elements the memory was planned for: those of the sizes at construction.
  size_t numel_bound_;
  int32_t dim_;
  const ScalarType type_;
  const TensorShapeDynamism shape_dynamism_;
  const uint8_t element_size_;
  const DeviceType device_type_;
  const DeviceIndex device_index_;
};

/// Product of `dim` sizes. Sizes must not be negative and the product must fit: safe_numel() is for
/// untrusted sizes.
ssize_t compute_numel(const ::executorch::runtime::etensor::TensorImpl::SizesType* sizes,
                      ssize_t dim);

/// As compute_numel(); InvalidArgument for a negative size or a product beyond ssize_t.
Result<ssize_t> safe_numel(const ::executorch::runtime::etensor::TensorImpl::SizesType* sizes,
                           ssize_t dim);

}  // namespace etensor

namespace internal {

/// The one that may resize a TensorImpl.
class TensorResizerFriend final {
 public:
  ET_NODISCARD static Error resize_tensor_impl(etensor::TensorImpl* impl,
                                               ArrayRef<etensor::TensorImpl::SizesType> new_sizes) {
    return impl->internal_resize_contiguous(new_sizes);
  }
};

}  // namespace internal
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::compute_numel;
using ::executorch::runtime::etensor::safe_numel;
using ::executorch::runtime::etensor::TensorImpl;
}  // namespace torch::executor
