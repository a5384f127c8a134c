// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/inputs.h>

#include <cstring>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
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

// Hands the data to the method as a tensor with the sizes of the program.
Error set_tensor(Method& method, const TensorInfo& info, void* data, size_t index) {
  const size_t rank = info.sizes().size();
  std::vector<executorch::aten::SizesType> sizes(info.sizes().begin(), info.sizes().end());
  std::vector<executorch::aten::DimOrderType> dim_order(info.dim_order().begin(),
                                                        info.dim_order().end());
  std::vector<executorch::aten::StridesType> strides(rank);
  ET_CHECK_OK_OR_RETURN_ERROR(executorch::runtime::dim_order_to_stride(
      sizes.data(), dim_order.data(), rank, strides.data()));
  TensorImpl impl(info.scalar_type(), static_cast<ssize_t>(rank), sizes.data(), data,
                  dim_order.data(), strides.data());
  return method.set_input(EValue(Tensor(&impl)), index);
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

size_t count_tensors(const MethodMeta& meta) {
  size_t count = 0;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const Result<Tag> tag = meta.input_tag(i);
    count += tag.ok() && tag.get() == Tag::Tensor ? 1 : 0;
  }
  return count;
}

}  // namespace

Result<BufferCleanup> prepare_input_tensors(
    Method& method, PrepareInputTensorsOptions options,
    const std::vector<std::pair<char*, size_t>>& input_buffers) {
  const MethodMeta meta = method.method_meta();
  const size_t num_inputs = meta.num_inputs();
  ET_CHECK_OR_RETURN_ERROR(num_inputs <= options.max_inputs, InvalidProgram,
                           "Expected at most %zu inputs, got %zu", options.max_inputs, num_inputs);
  ET_CHECK_OR_RETURN_ERROR(input_buffers.empty() || input_buffers.size() == count_tensors(meta),
                           InvalidArgument,
                           "Method %s: expected data for %zu input tensors, got %zu", meta.name(),
                           count_tensors(meta), input_buffers.size());
  void** list = static_cast<void**>(std::calloc(num_inputs + 1, sizeof(void*)));
  ET_CHECK_OR_RETURN_ERROR(list != nullptr, MemoryAllocationFailed, "No memory for inputs");
  BufferCleanup cleanup(Span<void*>(list, num_inputs));

  size_t total = 0;
  size_t num_tensors = 0;
  for (size_t i = 0; i < num_inputs; ++i) {
    const Tag tag = ET_UNWRAP(meta.input_tag(i));
    if (tag != Tag::Tensor) {
      ET_CHECK_OK_OR_RETURN_ERROR(set_number(method, tag, i),
                                  "Input %zu of method %s must be the number it was exported with",
                                  i, meta.name());
      continue;
    }
    const TensorInfo info = ET_UNWRAP(meta.input_tensor_meta(i));
    const size_t size = info.nbytes();
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
    if (input_buffers.empty()) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          fill_with_ones(list[i], info.scalar_type(),
                         size / executorch::runtime::elementSize(info.scalar_type())));
    } else {
      const auto& [data, data_size] = input_buffers[num_tensors];
      ET_CHECK_OR_RETURN_ERROR(data_size == size && (data != nullptr || size == 0), InvalidArgument,
                               "Input %zu of method %s: expected %zu bytes, got %zu. A size that "
                               "varies is at its largest here",
                               i, meta.name(), size, data_size);
      if (size > 0) {
        std::memcpy(list[i], data, size);
      }
    }
    num_tensors += 1;
    ET_CHECK_OK_OR_RETURN_ERROR(set_tensor(method, info, list[i], i));
  }
  return Result<BufferCleanup>(std::move(cleanup));
}

}  // namespace executorch::extension
