// SPDX-License-Identifier: BSD-3-Clause
// Element access by index, with the tensor's strides: accessor[i][j].
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension {

namespace internal {

template <typename T, ssize_t N>
class TensorAccessorBase {
 public:
  ssize_t size(ssize_t i) const { return sizes_[i]; }
  ssize_t stride(ssize_t i) const { return strides_[i]; }

 protected:
  TensorAccessorBase(T* data, const executorch::aten::SizesType* sizes,
                     const executorch::aten::StridesType* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  T* element(ssize_t i) const { return data_ + static_cast<ssize_t>(strides_[0]) * i; }

  T* data_;
  const executorch::aten::SizesType* sizes_;
  const executorch::aten::StridesType* strides_;
};

}  // namespace internal

// Points into the tensor, which must outlive it and keep its sizes. Indices are not checked.
// Read-only if T is const.
template <typename T, ssize_t N>
class TensorAccessor : public internal::TensorAccessorBase<T, N> {
 public:
  TensorAccessor(T* data, const executorch::aten::SizesType* sizes,
                 const executorch::aten::StridesType* strides)
      : internal::TensorAccessorBase<T, N>(data, sizes, strides) {}

  TensorAccessor<T, N - 1> operator[](ssize_t i) {
    return {this->element(i), this->sizes_ + 1, this->strides_ + 1};
  }
  const TensorAccessor<T, N - 1> operator[](ssize_t i) const {
    return {this->element(i), this->sizes_ + 1, this->strides_ + 1};
  }
};

template <typename T>
class TensorAccessor<T, 1> : public internal::TensorAccessorBase<T, 1> {
 public:
  TensorAccessor(T* data, const executorch::aten::SizesType* sizes,
                 const executorch::aten::StridesType* strides)
      : internal::TensorAccessorBase<T, 1>(data, sizes, strides) {}

  T& operator[](ssize_t i) { return *this->element(i); }
  const T& operator[](ssize_t i) const { return *this->element(i); }
};

// InvalidArgument if the tensor is not of rank N or not of type T.
template <typename T, ssize_t N>
executorch::runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(
    const executorch::aten::Tensor& tensor) {
  static_assert(N > 0, "a tensor without dimensions has no index");
  constexpr auto type = executorch::runtime::CppTypeToScalarType<std::remove_const_t<T>>::value;
  ET_CHECK_OR_RETURN_ERROR(
      tensor.scalar_type() == type, InvalidArgument, "Expected elements of type %s, got %s",
      executorch::runtime::toString(type), executorch::runtime::toString(tensor.scalar_type()));
  ET_CHECK_OR_RETURN_ERROR(tensor.dim() == N, InvalidArgument,
                           "Expected a tensor of rank %zd, got %zd", N,
                           static_cast<ssize_t>(tensor.dim()));
  T* data;
  if constexpr (std::is_const_v<T>) {
    data = tensor.const_data_ptr<std::remove_const_t<T>>();
  } else {
    data = tensor.mutable_data_ptr<T>();
  }
  return TensorAccessor<T, N>(data, tensor.sizes().data(), tensor.strides().data());
}

}  // namespace executorch::extension
