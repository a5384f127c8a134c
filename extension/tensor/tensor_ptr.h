// SPDX-License-Identifier: BSD-3-Clause
// TensorPtr: a tensor together with the memory of its sizes, strides and, if it owns them, its
// data.
//
// Misuse (data of another size than the sizes say, a cast that loses precision, strides that
// contradict the dim order) is a programmer's error here and aborts with a message: there is no
// Error to return.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

// Copies share metadata and data. An EValue made from it borrows: the TensorPtr must outlive it.
using TensorPtr = std::shared_ptr<executorch::aten::Tensor>;

namespace internal {

template <typename T>
constexpr executorch::aten::ScalarType scalar_type_of =
    executorch::runtime::CppTypeToScalarType<T>::value;

// Whether T is the element type of some tensor.
template <typename T, typename = void>
struct is_element : std::false_type {};
template <typename T>
struct is_element<T, std::void_t<decltype(executorch::runtime::CppTypeToScalarType<T>::value)>>
    : std::true_type {};
template <typename T>
using enable_if_element = std::enable_if_t<is_element<T>::value, bool>;

// Deduced, so that {} in its place means an empty list, as without it.
template <typename Type>
using enable_if_scalar_type =
    std::enable_if_t<std::is_same_v<Type, executorch::aten::ScalarType>, bool>;

// Memory for elements, and what keeps it alive.
struct OwnedData {
  void* data;
  std::shared_ptr<void> owner;
};

// `count` elements of type `from` as elements of type `to`; aborts on a cast that is not allowed.
OwnedData convert_elements(const void* data, executorch::aten::ScalarType from,
                           executorch::aten::ScalarType to, size_t count);

// Takes the vector over, or a converted copy.
template <typename T>
OwnedData own_elements(std::vector<T>&& data, executorch::aten::ScalarType type) {
  if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no array inside
    const std::unique_ptr<bool[]> copy(new bool[data.size() + 1]);
    for (size_t i = 0; i < data.size(); ++i) {
      copy[i] = data[i];
    }
    return convert_elements(copy.get(), scalar_type_of<bool>, type, data.size());
  } else {
    if (type != scalar_type_of<T>) {
      return convert_elements(data.data(), scalar_type_of<T>, type, data.size());
    }
    auto owner = std::make_shared<std::vector<T>>(std::move(data));
    return {owner->data(), owner};
  }
}

// The tensor, with owned data. Aborts unless `count`, the number of elements, is what the sizes
// say.
TensorPtr make_owning(std::vector<executorch::aten::SizesType> sizes, OwnedData data, size_t count,
                      std::vector<executorch::aten::DimOrderType> dim_order,
                      std::vector<executorch::aten::StridesType> strides,
                      executorch::aten::ScalarType type,
                      executorch::aten::TensorShapeDynamism dynamism);

// The tensor over `data`, whose dim order and strides agree with the sizes: of the build's tensor
// type.
TensorPtr make_of_layout(std::vector<executorch::aten::SizesType> sizes,
                         std::vector<executorch::aten::DimOrderType> dim_order,
                         std::vector<executorch::aten::StridesType> strides, void* data,
                         executorch::aten::ScalarType type,
                         executorch::aten::TensorShapeDynamism dynamism,
                         std::function<void(void*)> deleter, executorch::aten::Device device);

}  // namespace internal

// A tensor over `data`, which may be null. It does not own the data, but calls `deleter`, if there
// is one, on the data it has at the end. Without dimensions it is STATIC. Without dim order it is
// that of the strides, without strides they are those of the dim order, without both the tensor is
// contiguous.
TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    std::vector<executorch::aten::DimOrderType> dim_order,
    std::vector<executorch::aten::StridesType> strides,
    const executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    const executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU));

inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, void* data,
    const executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    const executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr,
    executorch::aten::Device device = executorch::aten::Device(executorch::aten::DeviceType::CPU)) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, dynamism, std::move(deleter),
                         device);
}

// A tensor that owns its data, given as elements. Another `type` than T's converts them: from
// integers to floating point, and within each; never from floating point to integers, never to
// Bool.
template <typename T = float, executorch::aten::ScalarType deduced_type =
                                  executorch::runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(std::vector<executorch::aten::SizesType> sizes,
                                 std::vector<T> data,
                                 std::vector<executorch::aten::DimOrderType> dim_order = {},
                                 std::vector<executorch::aten::StridesType> strides = {},
                                 executorch::aten::ScalarType type = deduced_type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  const size_t count = data.size();
  return internal::make_owning(std::move(sizes), internal::own_elements(std::move(data), type),
                               count, std::move(dim_order), std::move(strides), type, dynamism);
}

template <typename T = float, typename Type, internal::enable_if_scalar_type<Type> = true>
inline TensorPtr make_tensor_ptr(std::vector<executorch::aten::SizesType> sizes,
                                 std::vector<T> data, Type type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T>(std::move(sizes), std::move(data), {}, {}, type, dynamism);
}

// A vector, as a tensor of one dimension.
template <typename T = float, executorch::aten::ScalarType deduced_type =
                                  executorch::runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(std::vector<T> data,
                                 executorch::aten::ScalarType type = deduced_type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  const auto size = static_cast<executorch::aten::SizesType>(data.size());
  return make_tensor_ptr<T>({size}, std::move(data), {}, {}, type, dynamism);
}

// The same with lists in braces.
template <typename T = float, executorch::aten::ScalarType deduced_type =
                                  executorch::runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(std::vector<executorch::aten::SizesType> sizes,
                                 std::initializer_list<T> list,
                                 std::vector<executorch::aten::DimOrderType> dim_order = {},
                                 std::vector<executorch::aten::StridesType> strides = {},
                                 executorch::aten::ScalarType type = deduced_type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T>(std::move(sizes), std::vector<T>(list), std::move(dim_order),
                            std::move(strides), type, dynamism);
}

template <typename T = float, typename Type, internal::enable_if_scalar_type<Type> = true>
inline TensorPtr make_tensor_ptr(std::vector<executorch::aten::SizesType> sizes,
                                 std::initializer_list<T> list, Type type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T>(std::move(sizes), std::vector<T>(list), {}, {}, type, dynamism);
}

template <typename T = float, executorch::aten::ScalarType deduced_type =
                                  executorch::runtime::CppTypeToScalarType<T>::value>
inline TensorPtr make_tensor_ptr(std::initializer_list<T> list,
                                 executorch::aten::ScalarType type = deduced_type,
                                 executorch::aten::TensorShapeDynamism dynamism =
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr<T>(std::vector<T>(list), type, dynamism);
}

// One value, as a tensor without dimensions.
template <typename T, internal::enable_if_element<T> = true>
inline TensorPtr make_tensor_ptr(T value) {
  return make_tensor_ptr<T>(std::vector<executorch::aten::SizesType>{}, std::vector<T>{value}, {},
                            {});
}

template <typename T, internal::enable_if_element<T> = true>
inline TensorPtr make_tensor_ptr(T value, executorch::aten::ScalarType type) {
  return make_tensor_ptr<T>(std::vector<executorch::aten::SizesType>{}, std::vector<T>{value}, {},
                            {}, type);
}

// A tensor that owns raw bytes, as many as the sizes and the type say.
TensorPtr make_tensor_ptr(std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
                          std::vector<executorch::aten::DimOrderType> dim_order,
                          std::vector<executorch::aten::StridesType> strides,
                          executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
                          executorch::aten::TensorShapeDynamism dynamism =
                              executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr make_tensor_ptr(
    std::vector<executorch::aten::SizesType> sizes, std::vector<uint8_t> data,
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float,
    executorch::aten::TensorShapeDynamism dynamism =
        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), std::move(data), {}, {}, type, dynamism);
}

// A view: own metadata over the tensor's data, which must outlive it. Arguments that are empty are
// taken from the tensor; other sizes may not have more elements than it.
TensorPtr make_tensor_ptr(const executorch::aten::Tensor& tensor,
                          std::vector<executorch::aten::SizesType> sizes = {},
                          std::vector<executorch::aten::DimOrderType> dim_order = {},
                          std::vector<executorch::aten::StridesType> strides = {},
                          std::function<void(void*)> deleter = nullptr);

// A view that keeps the viewed tensor alive.
inline TensorPtr make_tensor_ptr(const TensorPtr& tensor_ptr,
                                 std::vector<executorch::aten::SizesType> sizes = {},
                                 std::vector<executorch::aten::DimOrderType> dim_order = {},
                                 std::vector<executorch::aten::StridesType> strides = {}) {
  return make_tensor_ptr(*tensor_ptr, std::move(sizes), std::move(dim_order), std::move(strides),
                         [tensor_ptr](void*) {});
}

// A deep copy that owns its data, in the same dim order, with the elements converted by the rules
// above.
TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor,
                           executorch::aten::ScalarType type);

inline TensorPtr clone_tensor_ptr(const executorch::aten::Tensor& tensor) {
  return clone_tensor_ptr(tensor, tensor.scalar_type());
}
inline TensorPtr clone_tensor_ptr(const TensorPtr& tensor, executorch::aten::ScalarType type) {
  return clone_tensor_ptr(*tensor, type);
}
inline TensorPtr clone_tensor_ptr(const TensorPtr& tensor) {
  return clone_tensor_ptr(*tensor);
}

// A deep copy in the memory of another device: from the CPU, or to it. Aborts between other
// devices, if there is no data, or if the device has no allocator or cannot copy.
TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, executorch::aten::Device target);

// Changes the sizes within the tensor's dynamism: a DYNAMIC_BOUND tensor never has more elements
// than it was made with.
ET_NODISCARD runtime::Error resize_tensor_ptr(
    TensorPtr& tensor, const std::vector<executorch::aten::SizesType>& sizes);

}  // namespace executorch::extension
