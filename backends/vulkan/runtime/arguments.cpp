// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/arguments.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cstring>
#include <type_traits>
#include <utility>

namespace executorch::backends::vulkan {

using executorch::aten::Half;
using executorch::aten::ScalarType;
using runtime::Error;

namespace {

template <typename T>
T load(const void* from, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(from) + index * sizeof(T), sizeof(T));
  return value;
}

/// Calls act(T{}) with the type of a host's dtype; false for one that does not go to the device.
template <typename Act>
bool with_host_type(ScalarType dtype, Act act) {
  switch (dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte:
      act(uint8_t{});
      return true;
    case ScalarType::Char:
      act(int8_t{});
      return true;
    case ScalarType::Int:
      act(int32_t{});
      return true;
    case ScalarType::Long:
      act(int64_t{});
      return true;
    case ScalarType::Half:
      act(Half{});
      return true;
    case ScalarType::Float:
      act(float{});
      return true;
    case ScalarType::Double:
      act(double{});
      return true;
    default:
      return false;
  }
}

template <typename Act>
void with_element_type(Element element, Act act) {
  switch (element) {
    case Element::kFloat:
      return act(float{});
    case Element::kHalf:
      return act(Half{});
    case Element::kInt:
      return act(int32_t{});
    case Element::kChar:
      return act(int8_t{});
    case Element::kByte:
      return act(uint8_t{});
  }
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, Half> || std::is_same_v<From, Half>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

ScalarType host_dtype_of(VkDataType dtype) {
  switch (dtype) {
    case VkDataType::BOOL:
      return ScalarType::Bool;
    case VkDataType::UINT8:
      return ScalarType::Byte;
    case VkDataType::INT8:
      return ScalarType::Char;
    case VkDataType::INT32:
      return ScalarType::Int;
    case VkDataType::INT64:
      return ScalarType::Long;
    case VkDataType::FLOAT16:
      return ScalarType::Half;
    case VkDataType::FLOAT64:
      return ScalarType::Double;
    default:
      return ScalarType::Float;
  }
}

}  // namespace

Error to_elements(const void* from, VkDataType dtype, size_t count, Element element, uint8_t* out) {
  if (size_of(dtype) == size_of(element) && dtype != VkDataType::FLOAT64) {
    if (count > 0) {
      std::memcpy(out, from, count * size_of(element));
    }
    return Error::Ok;
  }
  with_host_type(host_dtype_of(dtype), [&](auto host) {
    with_element_type(element, [&](auto device) {
      auto* to = reinterpret_cast<decltype(device)*>(out);
      for (size_t i = 0; i < count; ++i) {
        to[i] = convert<decltype(device)>(load<decltype(host)>(from, i));
      }
    });
  });
  return Error::Ok;
}

bool converts(ScalarType from, ScalarType to) {
  const auto is_pair = [&](ScalarType one, ScalarType other) {
    return (from == one && to == other) || (from == other && to == one);
  };
  return from == to || is_pair(ScalarType::Long, ScalarType::Int) ||
         is_pair(ScalarType::Float, ScalarType::Half) ||
         is_pair(ScalarType::Float, ScalarType::Double);
}

runtime::Port port_of(const Tensor& tensor) {
  std::vector<runtime::PortSizes::Range> ranges;
  for (size_t i = 0; i < tensor.bound.rank; ++i) {
    ranges.push_back({0, tensor.bound[i]});
  }
  return {"", host_dtype_of(tensor.staging), runtime::PortSizes::ranges(std::move(ranges))};
}

runtime::Elements elements_of(const Tensor& tensor, uint8_t* data) {
  ScalarType dtype = ScalarType::Float;
  with_element_type(tensor.element, [&](auto element) {
    dtype = runtime::CppTypeToScalarType<decltype(element)>::value;
  });
  return runtime::Elements::row_major(
      data, dtype, runtime::Span<const int32_t>(tensor.shape.sizes, tensor.shape.rank));
}

}  // namespace executorch::backends::vulkan
