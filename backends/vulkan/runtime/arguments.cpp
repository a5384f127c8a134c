// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/arguments.h>
#include <executorch/runtime/backend/element_copy.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cstring>
#include <string>
#include <type_traits>

namespace executorch::backends::vulkan {

using executorch::aten::Half;
using executorch::aten::ScalarType;
using runtime::Error;
using runtime::Result;

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

/// Whether a method's tensor of one dtype may be the delegate's of another.
bool fits(ScalarType host, ScalarType delegate) {
  const auto is_real_pair = [](ScalarType a, ScalarType b) {
    return a == ScalarType::Float && (b == ScalarType::Half || b == ScalarType::Double);
  };
  return host == delegate || (host == ScalarType::Long && delegate == ScalarType::Int) ||
         (host == ScalarType::Int && delegate == ScalarType::Long) ||
         is_real_pair(host, delegate) || is_real_pair(delegate, host);
}

Error check_dtype(const executorch::aten::Tensor& tensor, const char* kind, size_t index,
                  VkDataType expected) {
  const ScalarType delegate = host_dtype_of(expected);
  ET_CHECK_OR_RETURN_ERROR(fits(tensor.scalar_type(), delegate), InvalidArgument,
                           "VulkanBackend: %s %zu: expected dtype %s, found %s", kind, index,
                           runtime::toString(delegate), runtime::toString(tensor.scalar_type()));
  return Error::Ok;
}

/// The device's memory for a tensor, or from it.
runtime::Elements on_device(void* data, Element element, const executorch::aten::Tensor& like) {
  ScalarType dtype = ScalarType::Float;
  with_element_type(
      element, [&](auto device) { dtype = runtime::CppTypeToScalarType<decltype(device)>::value; });
  return runtime::Elements::row_major(data, dtype, like.sizes());
}

std::string place(const char* kind, size_t index) {
  return std::string("VulkanBackend: ") + kind + " " + std::to_string(index);
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

/// Devices have integers of 32 bits: programs that were lowered without VulkanPartitioner take
/// more.
Error give_input(const executorch::aten::Tensor& from, size_t index, const Tensor& tensor,
                 uint8_t* out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype(from, "input", index, tensor.staging));
  ET_CHECK_OR_RETURN_ERROR(from.const_data_ptr() != nullptr || from.numel() == 0, InvalidArgument,
                           "VulkanBackend: input %zu has no data", index);
  return runtime::copy_elements(place("input", index).c_str(), runtime::Elements::of(from),
                                on_device(out, tensor.element, from));
}

Error take_output(const uint8_t* from, size_t index, const Tensor& tensor,
                  const executorch::aten::Tensor& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype(out, "output", index, tensor.staging));
  ET_CHECK_OR_RETURN_ERROR(out.const_data_ptr() != nullptr || out.numel() == 0, InvalidArgument,
                           "VulkanBackend: output %zu has no memory", index);
  return runtime::copy_elements(place("output", index).c_str(),
                                on_device(const_cast<uint8_t*>(from), tensor.element, out),
                                runtime::Elements::of(out));
}

}  // namespace executorch::backends::vulkan
