// SPDX-License-Identifier: BSD-3-Clause
// Element access by index, with the tensor's strides: accessor[i][j].
#pragma once

#include <cstddef>
#include <type_traits>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

template <typename T, ssize_t N>
class TensorAccessor;

// InvalidArgument if the tensor is not of rank N or its elements are not of the size of T (their
// type is not looked at); NotSupported unless its dimensions lie in memory in their own order.
template <typename T, ssize_t N>
executorch::runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(
    const executorch::aten::Tensor& tensor);

namespace internal {

template <typename T, ssize_t N>
class TensorAccessorBase {
 public:
  // Abort out of range.
  ssize_t size(ssize_t i) const { return at(sizes_, i); }
  ssize_t stride(ssize_t i) const { return at(strides_, i); }

 protected:
  TensorAccessorBase(T* data, const executorch::aten::SizesType* sizes,
                     const executorch::aten::StridesType* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  T* element(ssize_t i) const { return data_ + static_cast<ssize_t>(strides_[0]) * i; }

  T* data_;
  const executorch::aten::SizesType* sizes_;
  const executorch::aten::StridesType* strides_;

 private:
  template <typename Number>
  static ssize_t at(const Number* numbers, ssize_t i) {
    ET_CHECK_MSG(i >= 0 && i < N, "Expected a dimension from 0 to %zd, got %zd", N - 1, i);
    return numbers[i];
  }
};

}  // namespace internal

// Points into the tensor, which must outlive it and keep its sizes. Indices are not checked.
// Read-only if T is const. Made by make_tensor_accessor().
template <typename T, ssize_t N>
class TensorAccessor : public internal::TensorAccessorBase<T, N> {
 public:
  TensorAccessor<T, N - 1> operator[](ssize_t i) {
    return {this->element(i), this->sizes_ + 1, this->strides_ + 1};
  }
  const TensorAccessor<T, N - 1> operator[](ssize_t i) const {
    return {this->element(i), this->sizes_ + 1, this->strides_ + 1};
  }

 private:
  using internal::TensorAccessorBase<T, N>::TensorAccessorBase;

  template <typename, ssize_t>
  friend class TensorAccessor;
  template <typename U, ssize_t M>
  friend executorch::runtime::Result<TensorAccessor<U, M>> make_tensor_accessor(
      const executorch::aten::Tensor& tensor);
};

template <typename T>
class TensorAccessor<T, 1> : public internal::TensorAccessorBase<T, 1> {
 public:
  T& operator[](ssize_t i) { return *this->element(i); }
  const T& operator[](ssize_t i) const { return *this->element(i); }

 private:
  using internal::TensorAccessorBase<T, 1>::TensorAccessorBase;

  template <typename, ssize_t>
  friend class TensorAccessor;
  template <typename U, ssize_t M>
  friend executorch::runtime::Result<TensorAccessor<U, M>> make_tensor_accessor(
      const executorch::aten::Tensor& tensor);
};

template <typename T, ssize_t N>
executorch::runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(
    const executorch::aten::Tensor& tensor) {
  static_assert(N > 0, "a tensor without dimensions has no index");
  ET_CHECK_OR_RETURN_ERROR(sizeof(T) == static_cast<size_t>(tensor.element_size()), InvalidArgument,
                           "Expected elements of %zu bytes, got %zd", sizeof(T),
                           static_cast<ssize_t>(tensor.element_size()));
  ET_CHECK_OR_RETURN_ERROR(tensor.dim() == N, InvalidArgument,
                           "Expected a tensor of rank %zd, got %zd", N,
                           static_cast<ssize_t>(tensor.dim()));
  executorch::runtime::internal::DimOrderRoom room;
  const auto dim_order = executorch::runtime::internal::dim_order_of(tensor, room);
  for (size_t i = 0; i < dim_order.size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(dim_order[i] == i, NotSupported,
                             "Expected dimension %zu in place %zu of the dim order, got %d", i, i,
                             static_cast<int>(dim_order[i]));
  }
  T* data;
  if constexpr (std::is_const_v<T>) {
    data = static_cast<T*>(tensor.const_data_ptr());
  } else {
    data = static_cast<T*>(tensor.mutable_data_ptr());
  }
  return TensorAccessor<T, N>(data, tensor.sizes().data(), tensor.strides().data());
}

}  // namespace executorch::extension
