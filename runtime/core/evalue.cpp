// SPDX-License-Identifier: BSD-3-Clause
// The checked ways to read an EValue.
#include <executorch/runtime/core/evalue.h>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

namespace {

Error wrong_type(Tag expected, Tag found) {
  if constexpr (ET_IS_LOGGED(Error)) {
    char expected_name[kTagNameBufferSize];
    char found_name[kTagNameBufferSize];
    (void)tag_to_string(expected, expected_name, sizeof(expected_name));
    (void)tag_to_string(found, found_name, sizeof(found_name));
    ET_LOG(Error, "expected a value of type %s, found %s", expected_name, found_name);
  }
  return Error::InvalidType;
}

Error check(const EValue& value, Tag expected) {
  return ET_LIKELY(value.tag == expected) ? Error::Ok : wrong_type(expected, value.tag);
}

template <typename T>
Error check(const EValue& value, Tag expected, const T* pointer) {
  ET_CHECK_OK_OR_RETURN_ERROR(check(value, expected));
  ET_CHECK_OR_RETURN_ERROR(pointer != nullptr, InvalidState, "the list or string is null");
  return Error::Ok;
}

// An Int in [0, limit).
Result<int64_t> to_enumerator(const EValue& value, int64_t limit, ET_UNUSED const char* what) {
  ET_CHECK_OK_OR_RETURN_ERROR(check(value, Tag::Int));
  const int64_t number = value.payload.copyable_union.as_int;
  ET_CHECK_OR_RETURN_ERROR(number >= 0 && number < limit, InvalidArgument, "%" PRId64 " is no %s",
                           number, what);
  return number;
}

}  // namespace

void EValue::fail(Tag expected) const {
  (void)wrong_type(expected, tag);
  ET_CHECK_MSG(false, "EValue of another type, or null");
  ET_UNREACHABLE();
}

executorch::aten::Scalar EValue::toScalar() const {
  if (isDouble()) {
    return toDouble();
  }
  if (isBool()) {
    return toBool();
  }
  return toInt();
}

Result<int64_t> EValue::tryToInt() const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::Int));
  return payload.copyable_union.as_int;
}

Result<double> EValue::tryToDouble() const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::Double));
  return payload.copyable_union.as_double;
}

Result<bool> EValue::tryToBool() const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::Bool));
  return payload.copyable_union.as_bool;
}

Result<executorch::aten::Scalar> EValue::tryToScalar() const {
  if (!isScalar()) {
    return wrong_type(Tag::Int, tag);
  }
  return toScalar();
}

Result<executorch::aten::Tensor> EValue::tryToTensor() const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::Tensor));
  return payload.as_tensor;
}

Result<std::string_view> EValue::tryToString() const {
  const auto* text = payload.copyable_union.as_string_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::String, text));
  return std::string_view(text->data(), text->size());
}

Result<executorch::aten::ArrayRef<int64_t>> EValue::tryToIntList() const {
  const auto* list = payload.copyable_union.as_int_list_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::ListInt, list));
  return list->tryGet();
}

Result<executorch::aten::ArrayRef<bool>> EValue::tryToBoolList() const {
  const auto* list = payload.copyable_union.as_bool_list_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::ListBool, list));
  return *list;
}

Result<executorch::aten::ArrayRef<double>> EValue::tryToDoubleList() const {
  const auto* list = payload.copyable_union.as_double_list_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::ListDouble, list));
  return *list;
}

Result<executorch::aten::ArrayRef<executorch::aten::Tensor>> EValue::tryToTensorList() const {
  const auto* list = payload.copyable_union.as_tensor_list_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::ListTensor, list));
  return list->tryGet();
}

Result<executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>>
EValue::tryToListOptionalTensor() const {
  const auto* list = payload.copyable_union.as_list_optional_tensor_ptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check(*this, Tag::ListOptionalTensor, list));
  return list->tryGet();
}

Result<executorch::aten::ScalarType> EValue::tryToScalarType() const {
  const auto number = to_enumerator(
      *this, static_cast<int64_t>(executorch::aten::ScalarType::Undefined), "scalar type");
  if (!number.ok()) {
    return number.error();
  }
  return static_cast<executorch::aten::ScalarType>(*number);
}

Result<executorch::aten::MemoryFormat> EValue::tryToMemoryFormat() const {
  const auto number = to_enumerator(
      *this, static_cast<int64_t>(executorch::aten::MemoryFormat::Preserve) + 1, "memory format");
  if (!number.ok()) {
    return number.error();
  }
  return static_cast<executorch::aten::MemoryFormat>(*number);
}

Result<executorch::aten::Layout> EValue::tryToLayout() const {
  const auto number =
      to_enumerator(*this, static_cast<int64_t>(executorch::aten::Layout::Strided) + 1, "layout");
  if (!number.ok()) {
    return number.error();
  }
  return static_cast<executorch::aten::Layout>(*number);
}

Result<executorch::aten::Device> EValue::tryToDevice() const {
  const auto number =
      to_enumerator(*this, static_cast<int64_t>(etensor::kNumDeviceTypes), "device type");
  if (!number.ok()) {
    return number.error();
  }
  return executorch::aten::Device(static_cast<executorch::aten::DeviceType>(*number), -1);
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
