// SPDX-License-Identifier: BSD-3-Clause
// From EValues to the arguments of a kernel. What is checked depends on the kinds of the parameters
// alone, so that one function checks for every kernel, and each conversion exists once per type and
// not once per kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::extension::kernel_util_internal {

using ::executorch::aten::ArrayRef;
using ::executorch::aten::Tensor;
using ::executorch::runtime::EValue;
using ::executorch::runtime::Tag;

// What a parameter accepts. Optional is a flag on top of it: None is accepted, too.
enum Kind : uint8_t {
  kTensor,
  kTensorList,
  kOptionalTensorList,
  kInt,
  kDouble,  // a Double or an Int
  kBool,
  kScalar,  // an Int, a Double or a Bool
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kScalarType,  // an Int that names a type
  kEnum,        // an Int that fits the enumerations stored in one byte
  kOptional = 0x80,
};

// The tag that a message says was expected.
inline Tag expected_tag(Kind kind) {
  constexpr Tag kTags[] = {Tag::Tensor,     Tag::ListTensor, Tag::ListOptionalTensor,
                           Tag::Int,        Tag::Double,     Tag::Bool,
                           Tag::Double,     Tag::String,     Tag::ListInt,
                           Tag::ListDouble, Tag::ListBool,   Tag::Int,
                           Tag::Int};
  return kTags[kind];
}

inline bool accepts(Kind kind, const EValue& value) {
  const int64_t number = value.tag == Tag::Int ? value.payload.copyable_union.as_int : -1;
  switch (kind) {
    case kDouble:
      return value.tag == Tag::Double || value.tag == Tag::Int;
    case kScalar:
      return value.isScalar();
    case kScalarType:
      return number >= 0 &&
             number < static_cast<int64_t>(::executorch::aten::ScalarType::NumOptions);
    case kEnum:
      return number >= 0 && number <= INT8_MAX;
    case kIntList:
      return value.tag == Tag::ListInt && value.tryToIntList().ok();
    case kTensorList:
      return value.tag == Tag::ListTensor && value.tryToTensorList().ok();
    case kOptionalTensorList:
      return value.tag == Tag::ListOptionalTensor && value.tryToListOptionalTensor().ok();
    default:
      return value.tag == expected_tag(kind);
  }
}

// True if the first `count` values are there and of the given kinds, and no more than `max_extra`
// follow. Else fails the context with InvalidArgument and says which argument is wrong.
ET_NOINLINE inline bool check_arguments(::executorch::runtime::KernelRuntimeContext& context,
                                        ::executorch::runtime::Span<EValue*> stack,
                                        const uint8_t* kinds, size_t count, size_t max_extra) {
  if (stack.size() < count || stack.size() - count > max_extra) {
    ET_LOG(Error, "Expected %zu arguments and at most %zu results, got %zu values", count,
           max_extra, stack.size());
    context.fail(::executorch::runtime::Error::InvalidArgument);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const EValue* value = stack[i];
    if (value != nullptr && (kinds[i] & kOptional) != 0 && value->isNone()) {
      continue;
    }
    const Kind kind = static_cast<Kind>(kinds[i] & ~kOptional);
    if (value == nullptr || !accepts(kind, *value)) {
      ET_LOG(Error, "Argument %zu: expected a value of kind %s, got %s", i,
             ::executorch::runtime::tag_to_string(expected_tag(kind)),
             value == nullptr ? "nothing" : ::executorch::runtime::tag_to_string(value->tag));
      context.fail(::executorch::runtime::Error::InvalidArgument);
      return false;
    }
  }
  return true;
}

// Per parameter type: its kind, and how to get it out of a value that check_arguments() accepted.
template <typename T>
struct Argument {
  static_assert(!sizeof(T), "a kernel cannot have a parameter of this type");
};

// References into the value, no copy.
template <>
struct Argument<Tensor> {
  static constexpr uint8_t kind = kTensor;
  static Tensor& get(EValue& value) { return value.payload.as_tensor; }
};

#define ET_KERNEL_ARGUMENT(type, kind_, expression) \
  template <>                                       \
  struct Argument<type> {                           \
    static constexpr uint8_t kind = kind_;          \
    static type get(EValue& value) {                \
      return (expression);                          \
    }                                               \
  }

ET_KERNEL_ARGUMENT(int64_t, kInt, value.payload.copyable_union.as_int);
ET_KERNEL_ARGUMENT(bool, kBool, value.payload.copyable_union.as_bool);
ET_KERNEL_ARGUMENT(double, kDouble,
                   value.tag == Tag::Int ? static_cast<double>(value.payload.copyable_union.as_int)
                                         : value.payload.copyable_union.as_double);
ET_KERNEL_ARGUMENT(::executorch::aten::Scalar, kScalar, value.toScalar());
ET_KERNEL_ARGUMENT(std::string_view, kString, value.toString());
ET_KERNEL_ARGUMENT(ArrayRef<int64_t>, kIntList, value.toIntList());
ET_KERNEL_ARGUMENT(ArrayRef<double>, kDoubleList, value.toDoubleList());
ET_KERNEL_ARGUMENT(ArrayRef<bool>, kBoolList, value.toBoolList());
ET_KERNEL_ARGUMENT(ArrayRef<Tensor>, kTensorList, value.toTensorList());
ET_KERNEL_ARGUMENT(ArrayRef<std::optional<Tensor>>, kOptionalTensorList,
                   value.toListOptionalTensor());
ET_KERNEL_ARGUMENT(
    ::executorch::aten::ScalarType, kScalarType,
    static_cast<::executorch::aten::ScalarType>(value.payload.copyable_union.as_int));
ET_KERNEL_ARGUMENT(
    ::executorch::aten::MemoryFormat, kEnum,
    static_cast<::executorch::aten::MemoryFormat>(value.payload.copyable_union.as_int));
ET_KERNEL_ARGUMENT(::executorch::aten::Layout, kEnum,
                   static_cast<::executorch::aten::Layout>(value.payload.copyable_union.as_int));
ET_KERNEL_ARGUMENT(::executorch::aten::Device, kEnum,
                   ::executorch::aten::Device(static_cast<::executorch::aten::DeviceType>(
                       value.payload.copyable_union.as_int)));
#undef ET_KERNEL_ARGUMENT

template <typename T>
struct Argument<std::optional<T>> {
  static constexpr uint8_t kind = Argument<T>::kind | kOptional;
  ET_NOINLINE static std::optional<T> get(EValue& value) {
    if (value.isNone()) {
      return std::nullopt;
    }
    return std::optional<T>(Argument<T>::get(value));
  }
};

template <typename T>
using ArgumentOf = Argument<std::remove_cv_t<std::remove_reference_t<T>>>;

}  // namespace executorch::extension::kernel_util_internal
