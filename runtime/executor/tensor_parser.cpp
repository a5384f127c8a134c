// SPDX-License-Identifier: BSD-3-Clause
// Builds tensors and tensor lists of a method: shapes, data pointers, initial content.
#include <executorch/runtime/executor/tensor_parser.h>

#include <cinttypes>
#include <cstring>
#include <new>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE::deserialization {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;

bool is_external(const fb::Tensor& tensor) {
  const fb::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  return extra != nullptr && extra->location() == fb::TensorDataLocation::EXTERNAL;
}

const char* name_of(const fb::Tensor& tensor) {
  const fb::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  return extra == nullptr || extra->fully_qualified_name() == nullptr
             ? nullptr
             : extra->fully_qualified_name()->c_str();
}

// Kernels read elements in place, so data must be aligned to them; the wide complex types to their
// parts.
bool is_aligned(const void* data, const fb::Tensor& tensor) {
  const size_t size = elementSize(static_cast<ScalarType>(tensor.scalar_type()));
  return reinterpret_cast<uintptr_t>(data) % (size < 8 ? size : 8) == 0;
}

Result<void*> get_planned_ptr(const fb::AllocationDetails& planned, size_t nbytes,
                              HierarchicalAllocator* allocator) {
  ET_CHECK_OR_RETURN_ERROR(
      allocator != nullptr, InvalidState,
      "A tensor is memory-planned, but the memory manager has no planned memory");
  ET_CHECK_OR_RETURN_ERROR(sizeof(size_t) > 4 || planned.memory_offset_high() == 0, NotSupported,
                           "A tensor lies above 4 GB of its planned buffer");
  const uint64_t offset =
      (static_cast<uint64_t>(planned.memory_offset_high()) << 32) | planned.memory_offset_low();
  return allocator->get_offset_address(planned.memory_id() - 1, static_cast<size_t>(offset),
                                       nbytes);
}

// Planned memory with the content that an external data map has under the tensor's name.
Result<void*> load_external_state(const fb::Tensor& tensor, void* planned, size_t nbytes,
                                  const NamedDataMap* data_map) {
  const char* name = name_of(tensor);
  ET_CHECK_OR_RETURN_ERROR(
      name != nullptr && data_map != nullptr, InvalidExternalData,
      "Tensor '%s' has its initial data outside the program: no data map (.ptd) was given",
      name == nullptr ? "without a name" : name);
  const Result<const TensorLayout> layout = data_map->get_tensor_layout(name);
  ET_CHECK_OR_RETURN_ERROR(layout.ok(), NotFound, "The data map has no tensor '%s'", name);
  ET_CHECK_OK_OR_RETURN_ERROR(validateTensorLayout(&tensor, *layout));
  ET_CHECK_OK_OR_RETURN_ERROR(data_map->load_data_into(name, planned, nbytes));
  return planned;
}

}  // namespace

void getInitialSizes(const fb::Tensor* s_tensor, SizesType* out_sizes) {
  const auto& sizes = *s_tensor->sizes();
  const uint8_t* dim_order = s_tensor->dim_order()->data();
  const bool fits = tensor_nbytes(s_tensor) != SIZE_MAX;
  int32_t room = INT32_MAX;
  for (uint32_t i = sizes.size(); i-- > 0;) {
    const uint8_t dim = dim_order[i];
    const int32_t size = sizes[dim];
    out_sizes[dim] = fits || size <= room ? size : room;
    room /= out_sizes[dim] == 0 ? 1 : out_sizes[dim];
    room = room == 0 ? 1 : room;
  }
}

NamedData* get_data_by_key(const char* key, Span<NamedData> entries) {
  for (NamedData& entry : entries) {
    if (std::strcmp(key, entry.key) == 0) {
      return &entry;
    }
  }
  return nullptr;
}

Error validateTensorLayout(const fb::Tensor* s_tensor, const TensorLayout& expected_layout) {
  const char* name = name_of(*s_tensor);
  const auto* sizes = s_tensor->sizes();
  const auto* dim_order = s_tensor->dim_order();
  bool equal = name != nullptr && sizes != nullptr && dim_order != nullptr &&
               static_cast<ScalarType>(s_tensor->scalar_type()) == expected_layout.scalar_type() &&
               sizes->size() == expected_layout.sizes().size() &&
               dim_order->size() == expected_layout.dim_order().size();
  for (uint32_t i = 0; equal && i < sizes->size(); ++i) {
    equal = sizes->Get(i) == expected_layout.sizes()[i] &&
            dim_order->Get(i) == expected_layout.dim_order()[i];
  }
  ET_CHECK_OR_RETURN_ERROR(
      equal, InvalidExternalData,
      "Tensor '%s': element type, sizes or dim order in the data map differ from the program",
      name == nullptr ? "without a name" : name);
  return Error::Ok;
}

Result<void*> getTensorDataPtr(const fb::Tensor* s_tensor, const Program* program, size_t nbytes,
                               HierarchicalAllocator* allocator, const NamedDataMap* named_data_map,
                               Span<NamedData> external_constants) {
  const fb::AllocationDetails* planned = s_tensor->allocation_info();
  const uint32_t buffer = s_tensor->data_buffer_idx();
  if (planned != nullptr) {
    void* data = ET_UNWRAP(get_planned_ptr(*planned, nbytes, allocator));
    if (is_external(*s_tensor)) {
      return load_external_state(*s_tensor, data, nbytes, named_data_map);
    }
    if (buffer > 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(program->load_mutable_data_into(buffer, nbytes, data));
    }
    return data;
  }
  if (is_external(*s_tensor)) {
    const char* name = name_of(*s_tensor);
    const NamedData* entry = name == nullptr ? nullptr : get_data_by_key(name, external_constants);
    ET_CHECK_OR_RETURN_ERROR(entry != nullptr && entry->buffer.size() >= nbytes,
                             InvalidExternalData,
                             "Constant '%s' is missing in the data map or shorter than %zu bytes",
                             name == nullptr ? "without a name" : name, nbytes);
    return const_cast<void*>(entry->buffer.data());
  }
  if (buffer > 0) {
    return const_cast<void*>(ET_UNWRAP(program->get_constant_buffer_data(buffer, nbytes)));
  }
  return static_cast<void*>(nullptr);
}

Result<Tensor> parseTensor(const Program* program, MemoryManager* memory_manager,
                           const fb::Tensor* s_tensor, const NamedDataMap* named_data_map,
                           Span<NamedData> external_constants) {
  ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor_shape(s_tensor));
  const fb::TensorShapeDynamism dynamism = s_tensor->shape_dynamism();
  const bool is_static = dynamism == fb::TensorShapeDynamism::STATIC;
  const size_t bound = tensor_nbytes(s_tensor);
  const bool unbounded_input = bound == SIZE_MAX;
  ET_CHECK_OR_RETURN_ERROR(
      !unbounded_input || (!is_static && s_tensor->allocation_info() == nullptr &&
                           s_tensor->data_buffer_idx() == 0 && !is_external(*s_tensor)),
      InvalidProgram, "Tensor: its byte count overflows");
  ET_CHECK_OR_RETURN_ERROR(s_tensor->storage_offset() == 0, NotSupported,
                           "Tensor: storage offset %d, expected 0",
                           static_cast<int>(s_tensor->storage_offset()));
  ET_CHECK_OR_RETURN_ERROR(dynamism != fb::TensorShapeDynamism::DYNAMIC_UNBOUND, NotSupported,
                           "Tensor: its shape has no upper bound (DYNAMIC_UNBOUND)");

  const size_t nbytes = unbounded_input ? 0 : bound;
  void* data =
      ET_UNWRAP(getTensorDataPtr(s_tensor, program, nbytes, memory_manager->planned_memory(),
                                 named_data_map, external_constants));
  ET_CHECK_OR_RETURN_ERROR(is_aligned(data, *s_tensor), InvalidProgram,
                           "Tensor: its data at %p is not aligned to its elements", data);
  return make_tensor(s_tensor, data, nbytes, memory_manager->method_allocator());
}

// ---- Lists ----

namespace {

// The values a list refers to, as pointers; null for -1.
Result<EValue**> list_members(const flatbuffers::Vector<int32_t>* indices, Span<EValue> values,
                              bool optional, MemoryAllocator* allocator) {
  ET_CHECK_OR_RETURN_ERROR(indices != nullptr, InvalidProgram, "A list has no items");
  EValue** members = allocator->allocateList<EValue*>(indices->size() + 1);
  if (members == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (uint32_t i = 0; i < indices->size(); ++i) {
    const int32_t index = indices->Get(i);
    if (optional && index == -1) {
      members[i] = nullptr;
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(index) < values.size(), InvalidProgram,
                             "Item %" PRIu32 " of a list is value %d of %zu", i,
                             static_cast<int>(index), values.size());
    EValue* value = &values[static_cast<size_t>(index)];
    ET_CHECK_OR_RETURN_ERROR(value->isTensor() || (optional && value->isNone()), InvalidProgram,
                             "Item %" PRIu32 " of a list is value %d, which is not a tensor", i,
                             static_cast<int>(index));
    members[i] = optional && value->isNone() ? nullptr : value;
  }
  return members;
}

}  // namespace

Result<BoxedEvalueList<Tensor>> parseTensorList(
    const flatbuffers::Vector<int32_t, uint32_t>* tensor_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager) {
  MemoryAllocator* allocator = memory_manager->method_allocator();
  EValue** members =
      ET_UNWRAP(list_members(tensor_indices, {values, values_len}, false, allocator));
  auto* flat = allocator->allocateList<Tensor>(tensor_indices->size() + 1);
  if (flat == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  if constexpr (kTensorsCountReferences) {
    for (uint32_t i = 0; i < tensor_indices->size(); ++i) {
      new (&flat[i]) Tensor(members[i]->toTensor());
    }
  }
  return BoxedEvalueList<Tensor>(members, flat, static_cast<int>(tensor_indices->size()));
}

template <typename T>
Result<BoxedEvalueList<std::optional<T>>> parseListOptionalType(
    const flatbuffers::Vector<int32_t, uint32_t>* value_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager) {
  MemoryAllocator* allocator = memory_manager->method_allocator();
  EValue** members = ET_UNWRAP(list_members(value_indices, {values, values_len}, true, allocator));
  auto* flat = allocator->allocateList<std::optional<T>>(value_indices->size() + 1);
  if (flat == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (uint32_t i = 0; i < value_indices->size(); ++i) {
    new (&flat[i]) std::optional<T>();
  }
  return BoxedEvalueList<std::optional<T>>(members, flat, static_cast<int>(value_indices->size()));
}

template Result<BoxedEvalueList<std::optional<Tensor>>> parseListOptionalType<Tensor>(
    const flatbuffers::Vector<int32_t, uint32_t>*, EValue*, size_t, MemoryManager*);

}  // namespace executorch::ET_RUNTIME_NAMESPACE::deserialization
