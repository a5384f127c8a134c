// SPDX-License-Identifier: BSD-3-Clause
// Makers of common tensors: over existing memory, empty, filled, random.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension {

// for_blob(data, sizes).strides(...).make_tensor_ptr(): a tensor over memory that it does not own,
// step by step. To be used once, as an rvalue.
class TensorPtrMaker final {
 public:
  TensorPtrMaker(const TensorPtrMaker&) = delete;
  TensorPtrMaker& operator=(const TensorPtrMaker&) = delete;
  TensorPtrMaker(TensorPtrMaker&&) = default;
  TensorPtrMaker& operator=(TensorPtrMaker&&) = default;

  TensorPtrMaker&& type(executorch::aten::ScalarType type) {
    type_ = type;
    return std::move(*this);
  }
  TensorPtrMaker&& dim_order(std::vector<executorch::aten::DimOrderType> dim_order) {
    dim_order_ = std::move(dim_order);
    return std::move(*this);
  }
  TensorPtrMaker&& strides(std::vector<executorch::aten::StridesType> strides) {
    strides_ = std::move(strides);
    return std::move(*this);
  }
  TensorPtrMaker&& dynamism(executorch::aten::TensorShapeDynamism dynamism) {
    dynamism_ = dynamism;
    return std::move(*this);
  }
  // Called on the memory when the tensor is destroyed.
  TensorPtrMaker&& deleter(std::function<void(void*)>&& deleter) {
    deleter_ = std::move(deleter);
    return std::move(*this);
  }

  TensorPtr make_tensor_ptr() && {
    return ::executorch::extension::make_tensor_ptr(std::move(sizes_), data_, std::move(dim_order_),
                                                    std::move(strides_), type_, dynamism_,
                                                    std::move(deleter_));
  }
  operator TensorPtr() && { return std::move(*this).make_tensor_ptr(); }

 private:
  friend TensorPtrMaker for_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                                 executorch::aten::ScalarType type);

  TensorPtrMaker(void* data, std::vector<executorch::aten::SizesType> sizes,
                 executorch::aten::ScalarType type)
      : sizes_(std::move(sizes)), data_(data), type_(type) {}

  std::vector<executorch::aten::SizesType> sizes_;
  std::vector<executorch::aten::StridesType> strides_;
  std::vector<executorch::aten::DimOrderType> dim_order_;
  std::function<void(void*)> deleter_;
  void* data_;
  executorch::aten::ScalarType type_;
  executorch::aten::TensorShapeDynamism dynamism_ =
      executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND;
};

inline TensorPtrMaker for_blob(
    void* data, std::vector<executorch::aten::SizesType> sizes,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float) {
  return TensorPtrMaker(data, std::move(sizes), type);
}

// A tensor over memory that it does not own.
inline TensorPtr from_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                           executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                           executorch::aten::TensorShapeDynamism dynamism =
                               executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return for_blob(data, std::move(sizes), type).dynamism(dynamism).make_tensor_ptr();
}

inline TensorPtr from_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                           std::vector<executorch::aten::StridesType> strides,
                           executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                           executorch::aten::TensorShapeDynamism dynamism =
                               executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return for_blob(data, std::move(sizes), type)
      .strides(std::move(strides))
      .dynamism(dynamism)
      .make_tensor_ptr();
}

inline TensorPtr from_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                           executorch::aten::ScalarType type, std::function<void(void*)>&& deleter,
                           executorch::aten::TensorShapeDynamism dynamism =
                               executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return for_blob(data, std::move(sizes), type)
      .deleter(std::move(deleter))
      .dynamism(dynamism)
      .make_tensor_ptr();
}

inline TensorPtr from_blob(void* data, std::vector<executorch::aten::SizesType> sizes,
                           std::vector<executorch::aten::StridesType> strides,
                           executorch::aten::ScalarType type, std::function<void(void*)>&& deleter,
                           executorch::aten::TensorShapeDynamism dynamism =
                               executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return for_blob(data, std::move(sizes), type)
      .strides(std::move(strides))
      .deleter(std::move(deleter))
      .dynamism(dynamism)
      .make_tensor_ptr();
}

namespace internal {

inline std::vector<executorch::aten::SizesType> sizes_of(const executorch::aten::Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}
inline std::vector<executorch::aten::StridesType> strides_of(
    const executorch::aten::Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}
inline executorch::aten::ScalarType type_or(executorch::aten::ScalarType type,
                                            const executorch::aten::Tensor& other) {
  return type == executorch::aten::ScalarType::Undefined ? other.scalar_type() : type;
}

}  // namespace internal

// Below: x_strided(sizes, strides), x(sizes) for a contiguous tensor, x_like(other) with the sizes,
// strides and, unless another is given, the type of another tensor. Types without arithmetic abort,
// except for empty.

// Owns memory for its elements, which are not initialized.

TensorPtr empty_strided(std::vector<executorch::aten::SizesType> sizes,
                        std::vector<executorch::aten::StridesType> strides,
                        executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                        executorch::aten::TensorShapeDynamism dynamism =
                            executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr empty(std::vector<executorch::aten::SizesType> sizes,
                       executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                       executorch::aten::TensorShapeDynamism dynamism =
                           executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return empty_strided(std::move(sizes), {}, type, dynamism);
}

inline TensorPtr empty_like(
    const TensorPtr& other,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return empty_strided(internal::sizes_of(*other), internal::strides_of(*other),
                       internal::type_or(type, *other), dynamism);
}

// Every element is the value. Aborts if the type cannot hold it: integers take integers in their
// range, floating point takes numbers, Bool takes integers and bools.

TensorPtr full_strided(std::vector<executorch::aten::SizesType> sizes,
                       std::vector<executorch::aten::StridesType> strides,
                       executorch::aten::Scalar fill_value,
                       executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                       executorch::aten::TensorShapeDynamism dynamism =
                           executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr full(std::vector<executorch::aten::SizesType> sizes,
                      executorch::aten::Scalar fill_value,
                      executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                      executorch::aten::TensorShapeDynamism dynamism =
                          executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_strided(std::move(sizes), {}, fill_value, type, dynamism);
}

inline TensorPtr full_like(
    const TensorPtr& other, executorch::aten::Scalar fill_value,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_strided(internal::sizes_of(*other), internal::strides_of(*other), fill_value,
                      internal::type_or(type, *other), dynamism);
}

inline TensorPtr zeros_strided(
    std::vector<executorch::aten::SizesType> sizes,
    std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_strided(std::move(sizes), std::move(strides), 0, type, dynamism);
}

inline TensorPtr zeros(std::vector<executorch::aten::SizesType> sizes,
                       executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                       executorch::aten::TensorShapeDynamism dynamism =
                           executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return zeros_strided(std::move(sizes), {}, type, dynamism);
}

inline TensorPtr zeros_like(
    const TensorPtr& other,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return zeros_strided(internal::sizes_of(*other), internal::strides_of(*other),
                       internal::type_or(type, *other), dynamism);
}

inline TensorPtr ones_strided(
    std::vector<executorch::aten::SizesType> sizes,
    std::vector<executorch::aten::StridesType> strides,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_strided(std::move(sizes), std::move(strides), 1, type, dynamism);
}

inline TensorPtr ones(std::vector<executorch::aten::SizesType> sizes,
                      executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                      executorch::aten::TensorShapeDynamism dynamism =
                          executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return ones_strided(std::move(sizes), {}, type, dynamism);
}

inline TensorPtr ones_like(
    const TensorPtr& other,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return ones_strided(internal::sizes_of(*other), internal::strides_of(*other),
                      internal::type_or(type, *other), dynamism);
}

// Random numbers from [0, 1).

TensorPtr rand_strided(std::vector<executorch::aten::SizesType> sizes,
                       std::vector<executorch::aten::StridesType> strides,
                       executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                       executorch::aten::TensorShapeDynamism dynamism =
                           executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr rand(std::vector<executorch::aten::SizesType> sizes,
                      executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                      executorch::aten::TensorShapeDynamism dynamism =
                          executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return rand_strided(std::move(sizes), {}, type, dynamism);
}

inline TensorPtr rand_like(
    const TensorPtr& other,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return rand_strided(internal::sizes_of(*other), internal::strides_of(*other),
                      internal::type_or(type, *other), dynamism);
}

// Random numbers with mean 0 and standard deviation 1.

TensorPtr randn_strided(std::vector<executorch::aten::SizesType> sizes,
                        std::vector<executorch::aten::StridesType> strides,
                        executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                        executorch::aten::TensorShapeDynamism dynamism =
                            executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr randn(std::vector<executorch::aten::SizesType> sizes,
                       executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                       executorch::aten::TensorShapeDynamism dynamism =
                           executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randn_strided(std::move(sizes), {}, type, dynamism);
}

inline TensorPtr randn_like(
    const TensorPtr& other,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randn_strided(internal::sizes_of(*other), internal::strides_of(*other),
                       internal::type_or(type, *other), dynamism);
}

// Random integers from [low, high).

TensorPtr randint_strided(int64_t low, int64_t high, std::vector<executorch::aten::SizesType> sizes,
                          std::vector<executorch::aten::StridesType> strides,
                          executorch::aten::ScalarType type = executorch::aten::ScalarType::Int,
                          executorch::aten::TensorShapeDynamism dynamism =
                              executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr randint(int64_t low, int64_t high, std::vector<executorch::aten::SizesType> sizes,
                         executorch::aten::ScalarType type = executorch::aten::ScalarType::Int,
                         executorch::aten::TensorShapeDynamism dynamism =
                             executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randint_strided(low, high, std::move(sizes), {}, type, dynamism);
}

inline TensorPtr randint_like(
    const TensorPtr& other, int64_t low, int64_t high,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Undefined,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randint_strided(low, high, internal::sizes_of(*other), internal::strides_of(*other),
                         internal::type_or(type, *other), dynamism);
}

// A tensor without dimensions. Half, BFloat16 and other types that Scalar does not have:
// make_tensor_ptr(value).
inline TensorPtr scalar_tensor(
    executorch::aten::Scalar value,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float) {
  return full({}, value, type);
}

}  // namespace executorch::extension
