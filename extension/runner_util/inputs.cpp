// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/inputs.h>

#include <cstring>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

namespace {

Error fill_with_ones(void* data, ScalarType type, size_t count) {
  const bool is_arithmetic = executorch::runtime::dispatch_real_hb_bf16_uint(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* elements = static_cast<T*>(data);
    for (size_t i = 0; i < count; ++i) {
      elements[i] = static_cast<T>(1);
    }
  });
  ET_CHECK_OR_RETURN_ERROR(is_arithmetic, InvalidArgument,
                           "There is no one of type %s: give input files",
                           executorch::runtime::toString(type));
  return Error::Ok;
}

using Sizes = std::vector<executorch::aten::SizesType>;

Sizes sizes_of(const TensorInfo& info) {
  return {info.sizes().begin(), info.sizes().end()};
}

// Hands the data to the method as a tensor.
Error set_tensor(Method& method, const TensorInfo& info, Sizes sizes, void* data, size_t index) {
  const size_t rank = sizes.size();
  std::vector<executorch::aten::DimOrderType> dim_order(info.dim_order().begin(),
                                                        info.dim_order().end());
  std::vector<executorch::aten::StridesType> strides(rank);
  ET_CHECK_OK_OR_RETURN_ERROR(executorch::runtime::dim_order_to_stride(
      sizes.data(), dim_order.data(), rank, strides.data()));
  executorch::runtime::internal::BorrowedTensor tensor(info.scalar_type(), rank, sizes.data(), data,
                                                       dim_order.data(), strides.data());
  return method.set_input(EValue(tensor.get()), index);
}

// Numbers are ones, too, where the program does not ask for the value it was exported with.
Error set_number(Method& method, Tag tag, size_t index) {
  Error error = Error::Ok;
  switch (tag) {
    case Tag::Int:
      error = method.set_input(EValue(int64_t(1)), index);
      break;
    case Tag::Double:
      error = method.set_input(EValue(1.0), index);
      break;
    case Tag::Bool:
      error = method.set_input(EValue(true), index);
      break;
    default:
      break;
  }
  return error;
}

// The bytes that a tensor needs for its value; memory of that size is made for it.
Result<size_t> size_of(const MethodMeta& meta, const TensorInfo& info, const InputValue& value,
                       size_t index) {
  const auto* const bytes = std::get_if<InputBytes>(&value);
  if (bytes == nullptr) {
    return info.nbytes();
  }
  // Given sizes are the method's to check.
  ET_CHECK_OR_RETURN_ERROR(bytes->sizes.has_value() || bytes->size == info.nbytes(),
                           InvalidArgument,
                           "Input %zu of method %s: expected %zu bytes, got %zu. A size that "
                           "is dynamic is at its largest here",
                           index, meta.name(), info.nbytes(), bytes->size);
  ET_CHECK_OR_RETURN_ERROR(bytes->data != nullptr || bytes->size == 0, InvalidArgument,
                           "Input %zu of method %s: expected %zu bytes, got none", index,
                           meta.name(), bytes->size);
  return bytes->size;
}

Error fill_and_set_ones(Method& method, const TensorInfo& info, void* data, size_t index) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      fill_with_ones(data, info.scalar_type(),
                     info.nbytes() / executorch::runtime::elementSize(info.scalar_type())));
  return set_tensor(method, info, sizes_of(info), data, index);
}

Error fill_and_set(Method& method, const TensorInfo& info, const InputValue& value, void* data,
                   size_t index) {
  const auto* const bytes = std::get_if<InputBytes>(&value);
  if (bytes == nullptr) {
    return fill_and_set_ones(method, info, data, index);
  }
  if (bytes->size > 0) {
    std::memcpy(data, bytes->data, bytes->size);
  }
  return set_tensor(method, info, bytes->sizes.has_value() ? *bytes->sizes : sizes_of(info), data,
                    index);
}

// The number that `size` bytes are.
template <typename T>
Result<EValue> number_of(const char* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size == sizeof(T), InvalidArgument,
                           "A number: expected %zu bytes, got %zu", sizeof(T), size);
  T number;
  std::memcpy(&number, data, sizeof(T));
  return EValue(number);
}

// What a buffer means for an input of this kind.
Result<InputValue> value_of(Tag tag, const char* data, size_t size, size_t index) {
  switch (tag) {
    case Tag::Tensor:
      return InputValue(InputBytes{data, size, std::nullopt});
    case Tag::Int:
      return InputValue(ET_UNWRAP(number_of<int64_t>(data, size)));
    case Tag::Double:
      return InputValue(ET_UNWRAP(number_of<double>(data, size)));
    case Tag::Bool:
      ET_CHECK_OR_RETURN_ERROR(data != nullptr && size == 1, InvalidArgument,
                               "A bool: expected 1 byte, got %zu", size);
      return InputValue(EValue(*data != 0));
    default:
      ET_CHECK_OR_RETURN_ERROR(tag != Tag::String, InvalidArgument,
                               "Input %zu is a string, which takes no buffer", index);
      return InputValue();
  }
}

Error set_other(Method& method, Tag tag, const InputValue& value, size_t index) {
  if (const auto* const number = std::get_if<EValue>(&value)) {
    return method.set_input(*number, index);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(set_number(method, tag, index),
                              "Input %zu of method %s must be the number it was exported with",
                              index, method.method_meta().name());
  return Error::Ok;
}

}  // namespace

Result<BufferCleanup> prepare_inputs(Method& method, const std::vector<InputValue>& values,
                                     PrepareInputTensorsOptions options) {
  const MethodMeta meta = method.method_meta();
  const size_t num_inputs = meta.num_inputs();
  ET_CHECK_OR_RETURN_ERROR(num_inputs <= options.max_inputs, InvalidProgram,
                           "Expected at most %zu inputs, got %zu", options.max_inputs, num_inputs);
  ET_CHECK_OR_RETURN_ERROR(values.size() == num_inputs, InvalidArgument,
                           "Method %s: expected %zu inputs, got %zu", meta.name(), num_inputs,
                           values.size());
  void** list = static_cast<void**>(std::calloc(num_inputs + 1, sizeof(void*)));
  ET_CHECK_OR_RETURN_ERROR(list != nullptr, MemoryAllocationFailed, "No memory for inputs");
  BufferCleanup cleanup(Span<void*>(list, num_inputs));

  size_t total = 0;
  for (size_t i = 0; i < num_inputs; ++i) {
    const Tag tag = ET_UNWRAP(meta.input_tag(i));
    if (tag != Tag::Tensor) {
      ET_CHECK_OK_OR_RETURN_ERROR(set_other(method, tag, values[i], i));
      continue;
    }
    const TensorInfo info = ET_UNWRAP(meta.input_tensor_meta(i));
    const size_t size = ET_UNWRAP(size_of(meta, info, values[i], i));
    ET_CHECK_OR_RETURN_ERROR(size <= options.max_total_allocation_size &&
                                 total <= options.max_total_allocation_size - size,
                             InvalidProgram,
                             "Input %zu of method %s: inputs take more than %zu bytes", i,
                             meta.name(), options.max_total_allocation_size);
    total += size;
    // One byte at least, so that an empty tensor has an address.
    list[i] = std::malloc(size + 1);
    ET_CHECK_OR_RETURN_ERROR(list[i] != nullptr, MemoryAllocationFailed,
                             "No memory for the %zu bytes of input %zu", size, i);
    ET_CHECK_OK_OR_RETURN_ERROR(fill_and_set(method, info, values[i], list[i], i));
  }
  return Result<BufferCleanup>(std::move(cleanup));
}

Result<BufferCleanup> prepare_input_tensors(
    Method& method, PrepareInputTensorsOptions options,
    const std::vector<std::pair<char*, size_t>>& input_buffers) {
  const MethodMeta meta = method.method_meta();
  ET_CHECK_OR_RETURN_ERROR(input_buffers.empty() || input_buffers.size() == meta.num_inputs(),
                           InvalidArgument,
                           "Method %s: expected a buffer for each of %zu inputs, got %zu",
                           meta.name(), meta.num_inputs(), input_buffers.size());
  std::vector<InputValue> values(meta.num_inputs());
  for (size_t i = 0; i < input_buffers.size(); ++i) {
    const auto& [data, size] = input_buffers[i];
    values[i] = ET_UNWRAP(value_of(ET_UNWRAP(meta.input_tag(i)), data, size, i));
  }
  return prepare_inputs(method, values, options);
}

namespace internal {

Error fill_and_set_input(Method& method, TensorInfo& tensor_meta, size_t input_index,
                         void* data_ptr, bool fill_tensor) {
  return fill_tensor
             ? fill_and_set_ones(method, tensor_meta, data_ptr, input_index)
             : set_tensor(method, tensor_meta, sizes_of(tensor_meta), data_ptr, input_index);
}

}  // namespace internal

}  // namespace executorch::extension
