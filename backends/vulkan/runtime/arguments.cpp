// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/arguments.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cinttypes>
#include <cstring>
#include <limits>
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

/// Devices have integers of 32 bits.
template <typename To, typename From>
bool holds(From value) {
  if constexpr (std::is_same_v<From, int64_t> && std::is_integral_v<To>) {
    return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
  } else {
    return true;
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

bool is_row_major(const executorch::aten::Tensor& tensor) {
  int64_t expected = 1;
  for (ssize_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (tensor.size(dim) != 1 && tensor.strides()[static_cast<size_t>(dim)] != expected) {
      return false;
    }
    expected *= tensor.size(dim);
  }
  return true;
}

/// Calls act(row_major, place) with each element's number and where it is.
template <typename Act>
void for_each_element(const executorch::aten::Tensor& tensor, Act act) {
  const auto count = static_cast<size_t>(tensor.numel());
  if (is_row_major(tensor)) {
    for (size_t i = 0; i < count; ++i) {
      act(i, i);
    }
    return;
  }
  const auto rank = static_cast<size_t>(tensor.dim());
  int64_t index[kMaxRank] = {};
  int64_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    act(i, static_cast<size_t>(place));
    for (size_t dim = rank; dim-- > 0;) {
      const int64_t stride = tensor.strides()[dim];
      place += stride;
      if (++index[dim] < tensor.sizes()[dim]) {
        break;
      }
      place -= stride * index[dim];
      index[dim] = 0;
    }
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

namespace {

Error too_large(size_t input, size_t element, int64_t value) {
  ET_LOG(Error,
         "VulkanBackend: input %zu, element %zu: expected a number of 32 bits, found %" PRId64
         "; programs that were lowered without VulkanPartitioner take it",
         input, element, value);
  return Error::InvalidArgument;
}

}  // namespace

Error give_input(const executorch::aten::Tensor& from, size_t index, const Tensor& tensor,
                 uint8_t* out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype(from, "input", index, tensor.staging));
  ET_CHECK_OR_RETURN_ERROR(from.const_data_ptr() != nullptr || from.numel() == 0, InvalidArgument,
                           "VulkanBackend: input %zu has no data", index);
  Error error = Error::Ok;
  with_host_type(from.scalar_type(), [&](auto host) {
    using Host = decltype(host);
    const auto* data = static_cast<const Host*>(from.const_data_ptr());
    with_element_type(tensor.element, [&](auto device) {
      using Device = decltype(device);
      auto* to = reinterpret_cast<Device*>(out);
      if (std::is_same_v<Host, Device> && is_row_major(from)) {
        if (from.numel() > 0) {
          std::memcpy(to, data, static_cast<size_t>(from.numel()) * sizeof(Device));
        }
      } else {
        for_each_element(from, [&](size_t i, size_t place) {
          if (!holds<Device>(data[place])) {
            error = too_large(index, i, static_cast<int64_t>(data[place]));
          }
          to[i] = convert<Device>(data[place]);
        });
      }
    });
  });
  return error;
}

Error take_output(const uint8_t* from, size_t index, const Tensor& tensor,
                  const executorch::aten::Tensor& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype(out, "output", index, tensor.staging));
  ET_CHECK_OR_RETURN_ERROR(out.const_data_ptr() != nullptr || out.numel() == 0, InvalidArgument,
                           "VulkanBackend: output %zu has no memory", index);
  with_host_type(out.scalar_type(), [&](auto host) {
    using Host = decltype(host);
    auto* data = static_cast<Host*>(out.mutable_data_ptr());
    with_element_type(tensor.element, [&](auto device) {
      using Device = decltype(device);
      const auto* elements = reinterpret_cast<const Device*>(from);
      if (std::is_same_v<Host, Device> && is_row_major(out)) {
        if (out.numel() > 0) {
          std::memcpy(data, elements, static_cast<size_t>(out.numel()) * sizeof(Device));
        }
      } else {
        for_each_element(out,
                         [&](size_t i, size_t place) { data[place] = convert<Host>(elements[i]); });
      }
    });
  });
  return Error::Ok;
}

}  // namespace executorch::backends::vulkan
