// SPDX-License-Identifier: BSD-3-Clause
// Answers questions about a method from the program data.
#include <executorch/runtime/executor/method_meta.h>

#include <cinttypes>
#include <cstring>

#include <executorch/runtime/executor/name_lines.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;

template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// The value that item `index` of a list of inputs or outputs refers to.
Result<const fb::EValue*> get_value(const fb::ExecutionPlan& plan,
                                    const flatbuffers::Vector<int32_t>& list, size_t index) {
  ET_CHECK_OR_RETURN_ERROR(index < list.size(), InvalidArgument,
                           "Method %s: input or output %zu of %" PRIu32 " does not exist",
                           plan.name()->c_str(), index, static_cast<uint32_t>(list.size()));
  const uint32_t value = static_cast<uint32_t>(list.Get(static_cast<uint32_t>(index)));
  ET_CHECK_OR_RETURN_ERROR(value < count(plan.values()), InvalidProgram,
                           "Method %s: input or output %zu has no value", plan.name()->c_str(),
                           index);
  return plan.values()->Get(value);
}

Result<Tag> get_tag(const fb::ExecutionPlan& plan, const flatbuffers::Vector<int32_t>& list,
                    size_t index) {
  const fb::EValue* value = ET_UNWRAP(get_value(plan, list, index));
  switch (value->val_type()) {
    case fb::KernelTypes::Null:
      return Tag::None;
    case fb::KernelTypes::Int:
      return Tag::Int;
    case fb::KernelTypes::Bool:
      return Tag::Bool;
    case fb::KernelTypes::Double:
      return Tag::Double;
    case fb::KernelTypes::String:
      return Tag::String;
    case fb::KernelTypes::Tensor:
      return Tag::Tensor;
    default:
      ET_LOG(Error, "Method %s: input or output %zu is of type %d, which cannot be passed",
             plan.name()->c_str(), index, static_cast<int>(value->val_type()));
      return Error::Internal;
  }
}

// Shapes are checked again: programs may be loaded with minimal verification.
Result<const fb::Tensor*> get_tensor(const fb::ExecutionPlan& plan,
                                     const flatbuffers::Vector<int32_t>& list, size_t index) {
  const fb::EValue* value = ET_UNWRAP(get_value(plan, list, index));
  const fb::Tensor* tensor = value->val_as_Tensor();
  ET_CHECK_OR_RETURN_ERROR(tensor != nullptr, InvalidArgument,
                           "Method %s: input or output %zu is not a tensor", plan.name()->c_str(),
                           index);
  ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor_shape(tensor));
  ET_CHECK_OR_RETURN_ERROR(tensor->shape_dynamism() != fb::TensorShapeDynamism::STATIC ||
                               tensor_nbytes(tensor) != SIZE_MAX,
                           InvalidProgram,
                           "Method %s: the byte count of input or output %zu overflows",
                           plan.name()->c_str(), index);
  return tensor;
}

// All sizes of a static tensor, and up to the size in the file of one that varies.
Result<SizeRange> get_size_range(const fb::ExecutionPlan& plan,
                                 const flatbuffers::Vector<int32_t>& list, size_t index,
                                 size_t dimension) {
  const fb::Tensor* tensor = ET_UNWRAP(get_tensor(plan, list, index));
  ET_CHECK_OR_RETURN_ERROR(dimension < tensor->sizes()->size(), InvalidArgument,
                           "Method %s: input or output %zu has no dimension %zu",
                           plan.name()->c_str(), index, dimension);
  const int32_t size = tensor->sizes()->Get(static_cast<uint32_t>(dimension));
  const bool is_static = tensor->shape_dynamism() == fb::TensorShapeDynamism::STATIC;
  return SizeRange{is_static ? size : 0, size};
}

bool is_attribute(const fb::EValue& value) {
  const fb::Tensor* tensor = value.val_as_Tensor();
  return tensor != nullptr && tensor->extra_tensor_info() != nullptr &&
         tensor->extra_tensor_info()->fully_qualified_name() != nullptr;
}

// Whether no earlier delegate has the same backend.
bool is_first_of_backend(const fb::ExecutionPlan& plan, uint32_t index) {
  const char* name = plan.delegates()->Get(index)->id()->c_str();
  for (uint32_t i = 0; i < index; ++i) {
    if (std::strcmp(plan.delegates()->Get(i)->id()->c_str(), name) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// ---- TensorInfo ----

Span<const int32_t> TensorInfo::sizes() const {
  return {tensor_->sizes()->data(), tensor_->sizes()->size()};
}

Span<const uint8_t> TensorInfo::dim_order() const {
  return {tensor_->dim_order()->data(), tensor_->dim_order()->size()};
}

executorch::aten::ScalarType TensorInfo::scalar_type() const {
  return static_cast<executorch::aten::ScalarType>(tensor_->scalar_type());
}

bool TensorInfo::is_memory_planned() const {
  return tensor_->allocation_info() != nullptr || tensor_->data_buffer_idx() != 0;
}

size_t TensorInfo::nbytes() const {
  return tensor_nbytes(tensor_);
}

std::string_view TensorInfo::name() const {
  const fb::ExtraTensorInfo* extra = tensor_->extra_tensor_info();
  return extra == nullptr || extra->fully_qualified_name() == nullptr
             ? std::string_view()
             : extra->fully_qualified_name()->string_view();
}

// ---- MethodMeta ----

const char* MethodMeta::name() const {
  return plan_->name()->c_str();
}

size_t MethodMeta::num_inputs() const {
  return plan_->inputs()->size();
}

Result<Tag> MethodMeta::input_tag(size_t index) const {
  return get_tag(*plan_, *plan_->inputs(), index);
}

Result<TensorInfo> MethodMeta::input_tensor_meta(size_t index) const {
  return TensorInfo(ET_UNWRAP(get_tensor(*plan_, *plan_->inputs(), index)));
}

std::string_view MethodMeta::input_name(size_t index) const {
  return name_in(plan_->input_name_lines(), index);
}

Result<SizeRange> MethodMeta::input_size_range(size_t index, size_t dimension) const {
  SizeRange range = ET_UNWRAP(get_size_range(*plan_, *plan_->inputs(), index, dimension));
  const Span<const InputDimension> rows = input_dimensions(*plan_);
  // Rows name what varies, in each input that does.
  range.min = rows.empty() ? range.min : range.max;
  for (const InputDimension& row : rows) {
    if (static_cast<size_t>(row.input) == index &&
        static_cast<size_t>(row.dimension) == dimension) {
      range.min = row.min;
    }
  }
  return range;
}

size_t MethodMeta::num_outputs() const {
  return plan_->outputs()->size();
}

Result<Tag> MethodMeta::output_tag(size_t index) const {
  return get_tag(*plan_, *plan_->outputs(), index);
}

Result<TensorInfo> MethodMeta::output_tensor_meta(size_t index) const {
  return TensorInfo(ET_UNWRAP(get_tensor(*plan_, *plan_->outputs(), index)));
}

std::string_view MethodMeta::output_name(size_t index) const {
  return name_in(plan_->output_name_lines(), index);
}

Result<SizeRange> MethodMeta::output_size_range(size_t index, size_t dimension) const {
  SizeRange range = ET_UNWRAP(get_size_range(*plan_, *plan_->outputs(), index, dimension));
  const auto* numbers = plan_->output_dimensions();
  const uint32_t size = count(numbers);
  range.min = size == 0 ? range.min : range.max;
  for (uint32_t i = 0; i + 2 < size; i += 3) {
    if (static_cast<size_t>(numbers->Get(i)) == index &&
        static_cast<size_t>(numbers->Get(i + 1)) == dimension) {
      range.min = numbers->Get(i + 2);
    }
  }
  return range;
}

size_t MethodMeta::num_attributes() const {
  size_t num_attributes = 0;
  for (uint32_t i = 0; i < count(plan_->values()); ++i) {
    num_attributes += is_attribute(*plan_->values()->Get(i));
  }
  return num_attributes;
}

Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t index) const {
  size_t seen = 0;
  for (uint32_t i = 0; i < count(plan_->values()); ++i) {
    const fb::EValue& value = *plan_->values()->Get(i);
    if (is_attribute(value) && seen++ == index) {
      ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor_shape(value.val_as_Tensor()));
      return TensorInfo(value.val_as_Tensor());
    }
  }
  ET_LOG(Error, "Method %s: attribute %zu of %zu does not exist", name(), index, seen);
  return Error::InvalidArgument;
}

size_t MethodMeta::num_memory_planned_buffers() const {
  const uint32_t size = count(plan_->non_const_buffer_sizes());
  return size == 0 ? 0 : size - 1;
}

Result<int64_t> MethodMeta::memory_planned_buffer_size(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < num_memory_planned_buffers(), InvalidArgument,
                           "Method %s: planned buffer %zu of %zu does not exist", name(), index,
                           num_memory_planned_buffers());
  const int64_t size = plan_->non_const_buffer_sizes()->Get(static_cast<uint32_t>(index + 1));
  ET_CHECK_OR_RETURN_ERROR(size >= 0, InvalidProgram,
                           "Method %s: the size of planned buffer %zu is negative", name(), index);
  return size;
}

Result<etensor::Device> MethodMeta::memory_planned_buffer_device(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < num_memory_planned_buffers(), InvalidArgument,
                           "Method %s: planned buffer %zu of %zu does not exist", name(), index,
                           num_memory_planned_buffers());
  const auto* devices = plan_->non_const_buffer_device();
  for (uint32_t i = 0; i < count(devices); ++i) {
    const fb::NonConstBufferDevice* entry = devices->Get(i);
    if (entry->buffer_idx() >= 0 && static_cast<size_t>(entry->buffer_idx()) == index + 1) {
      return etensor::Device(static_cast<etensor::DeviceType>(entry->device_type()),
                             entry->device_index());
    }
  }
  return etensor::Device(etensor::DeviceType::CPU);
}

bool MethodMeta::uses_backend(const char* backend_name) const {
  for (uint32_t i = 0; i < count(plan_->delegates()); ++i) {
    if (std::strcmp(plan_->delegates()->Get(i)->id()->c_str(), backend_name) == 0) {
      return true;
    }
  }
  return false;
}

size_t MethodMeta::num_backends() const {
  size_t num_backends = 0;
  for (uint32_t i = 0; i < count(plan_->delegates()); ++i) {
    num_backends += is_first_of_backend(*plan_, i);
  }
  return num_backends;
}

Result<const char*> MethodMeta::get_backend_name(size_t index) const {
  size_t seen = 0;
  for (uint32_t i = 0; i < count(plan_->delegates()); ++i) {
    if (is_first_of_backend(*plan_, i) && seen++ == index) {
      return plan_->delegates()->Get(i)->id()->c_str();
    }
  }
  ET_LOG(Error, "Method %s: backend %zu of %zu does not exist", name(), index, seen);
  return Error::InvalidArgument;
}

size_t MethodMeta::num_instructions() const {
  size_t num_instructions = 0;
  for (uint32_t i = 0; i < count(plan_->chains()); ++i) {
    num_instructions += count(plan_->chains()->Get(i)->instructions());
  }
  return num_instructions;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
