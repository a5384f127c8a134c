// SPDX-License-Identifier: BSD-3-Clause
// Loading of a method's values: external constants, scalars, tensors and lists.
#include <cinttypes>
#include <cstring>
#include <new>
#include <utility>

#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_load.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace fb = executorch_flatbuffer;
using deserialization::NamedData;
using executorch::aten::Tensor;
using internal::allocate;

Error Method::load_external_constants(const NamedDataMap* data_map) {
  const auto& values = *plan_->values();
  // Constants outside the program, and memory for them only if there are any.
  auto name_of = [](const fb::EValue& value) -> const char* {
    const fb::Tensor* tensor = value.val_as_Tensor();
    const fb::ExtraTensorInfo* extra = tensor == nullptr ? nullptr : tensor->extra_tensor_info();
    return extra == nullptr || extra->location() != fb::TensorDataLocation::EXTERNAL ||
                   extra->fully_qualified_name() == nullptr || tensor->allocation_info() != nullptr
               ? nullptr
               : extra->fully_qualified_name()->c_str();
  };
  size_t num_external = 0;
  const char* first = nullptr;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const char* name = name_of(*values[i]);
    num_external += name != nullptr;
    first = first == nullptr ? name : first;
  }
  if (num_external == 0) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(
      data_map != nullptr, InvalidState,
      "%zu constants are outside the program (the first: '%s'), in the data file (.ptd) that was "
      "written with it: give its path too (data_path, --data_path), or its data map",
      num_external, first);
  NamedData* constants = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      allocate(memory_manager_->method_allocator(), num_external, &constants));
  for (uint32_t i = 0; i < values.size(); ++i) {
    const char* name = name_of(*values[i]);
    if (name == nullptr) {
      continue;
    }
    const Result<const TensorLayout> layout = data_map->get_tensor_layout(name);
    if (!layout.ok()) {
      ET_LOG(Error, "The data map has no tensor '%s': give the data file written with the program",
             name);
      return layout.error();
    }
    ET_CHECK_OK_OR_RETURN_ERROR(
        deserialization::validateTensorLayout(values[i]->val_as_Tensor(), *layout));
    if (deserialization::get_data_by_key(name, external_constants_) == nullptr) {
      FreeableBuffer data = ET_UNWRAP(data_map->get_data(name));
      const size_t index = external_constants_.size();
      new (&constants[index]) NamedData{name, std::move(data)};
      external_constants_ = {constants, index + 1};
    }
  }
  return Error::Ok;
}

Error Method::init_values(const NamedDataMap* data_map) {
  const auto& sources = *plan_->values();
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  EValue* values = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, sources.size(), &values));
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, plan_->inputs()->size(), &input_set_));
  for (uint32_t i = 0; i < sources.size(); ++i) {
    new (&values[i]) EValue();
  }
  std::memset(input_set_, 0, plan_->inputs()->size());
  values_ = {values, sources.size()};
  // Lists refer to values before and after them, so they come second.
  for (const bool lists : {false, true}) {
    for (uint32_t i = 0; i < sources.size(); ++i) {
      const fb::KernelTypes type = sources[i]->val_type();
      const bool is_list =
          type == fb::KernelTypes::TensorList || type == fb::KernelTypes::OptionalTensorList;
      if (is_list != lists) {
        continue;
      }
      const Error error = is_list ? init_list(*sources[i], &values[i])
                                  : init_value(*sources[i], data_map, &values[i]);
      if (error != Error::Ok) {
        ET_LOG(Error, "Value %" PRIu32 " of the method is invalid", i);
        return error;
      }
    }
  }
  return Error::Ok;
}

Result<EValue*> Method::value_at(int64_t index) {
  ET_CHECK_OR_RETURN_ERROR(static_cast<uint64_t>(index) < values_.size(), InvalidProgram,
                           "Value %" PRId64 " of %zu", static_cast<int64_t>(index), values_.size());
  return &values_[static_cast<size_t>(index)];
}

namespace {

// A list whose items stand in the program data.
template <typename T>
Error make_inline_list(MemoryAllocator* allocator, const T* items, size_t size, EValue* out) {
  using executorch::aten::ArrayRef;
  ArrayRef<T>* list = allocator->allocateInstance<ArrayRef<T>>();
  if (list == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  *out = EValue(new (list) ArrayRef<T>(items, size));
  return Error::Ok;
}

}  // namespace

Error Method::init_value(const fb::EValue& source, const NamedDataMap* data_map, EValue* out) {
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  if (source.val_type() == fb::KernelTypes::Null) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(source.val() != nullptr, InvalidProgram, "A value has no content");
  switch (source.val_type()) {
    case fb::KernelTypes::Int:
      *out = EValue(source.val_as_Int()->int_val());
      return Error::Ok;
    case fb::KernelTypes::Bool:
      *out = EValue(source.val_as_Bool()->bool_val());
      return Error::Ok;
    case fb::KernelTypes::Double:
      *out = EValue(source.val_as_Double()->double_val());
      return Error::Ok;
    case fb::KernelTypes::Tensor:
      *out = EValue(ET_UNWRAP(deserialization::parseTensor(
          program_, memory_manager_, source.val_as_Tensor(), data_map, external_constants_)));
      return Error::Ok;
    case fb::KernelTypes::String: {
      const auto* text = source.val_as_String()->string_val();
      ET_CHECK_OR_RETURN_ERROR(text != nullptr, InvalidProgram, "A string has no content");
      return make_inline_list<char>(allocator, text->c_str(), text->size(), out);
    }
    case fb::KernelTypes::DoubleList: {
      const auto* items = source.val_as_DoubleList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      return make_inline_list<double>(allocator, items->data(), items->size(), out);
    }
    case fb::KernelTypes::BoolList: {
      const auto* items = source.val_as_BoolList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      return make_inline_list<bool>(allocator, reinterpret_cast<const bool*>(items->data()),
                                    items->size(), out);
    }
    case fb::KernelTypes::IntList: {
      const auto* items = source.val_as_IntList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      EValue** members = nullptr;
      int64_t* flat = nullptr;
      auto* list = allocator->allocateInstance<BoxedEvalueList<int64_t>>();
      ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, items->size(), &members));
      ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, items->size(), &flat));
      if (list == nullptr) {
        return Error::MemoryAllocationFailed;
      }
      for (uint32_t i = 0; i < items->size(); ++i) {
        members[i] = ET_UNWRAP(value_at(items->Get(i)));
      }
      const int size = static_cast<int>(items->size());
      *out = EValue(new (list) BoxedEvalueList<int64_t>(members, flat, size));
      return Error::Ok;
    }
    default:
      ET_LOG(Error, "A value has the unknown type %d", static_cast<int>(source.val_type()));
      return Error::InvalidProgram;
  }
}

Error Method::init_list(const fb::EValue& source, EValue* out) {
  ET_CHECK_OR_RETURN_ERROR(source.val() != nullptr, InvalidProgram, "A list has no content");
  if (source.val_type() == fb::KernelTypes::TensorList) {
    return make_list(
        deserialization::parseTensorList(source.val_as_TensorList()->items(), values_.data(),
                                         values_.size(), memory_manager_),
        out);
  }
  return make_list(deserialization::parseListOptionalType<Tensor>(
                       source.val_as_OptionalTensorList()->items(), values_.data(), values_.size(),
                       memory_manager_),
                   out);
}

template <typename T>
Error Method::make_list(Result<BoxedEvalueList<T>> made, EValue* out) {
  if (!made.ok()) {
    return made.error();
  }
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  auto* list = allocator->allocateInstance<BoxedEvalueList<T>>();
  if (list == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  *out = EValue(new (list) BoxedEvalueList<T>(*made));
  if constexpr (kTensorsCountReferences) {
    auto* held = allocator->allocateInstance<HeldList>();
    if (held == nullptr) {
      list->destroy_elements();
      return Error::MemoryAllocationFailed;
    }
    const auto destroy = [](void* it) { static_cast<BoxedEvalueList<T>*>(it)->destroy_elements(); };
    held_lists_ = new (held) HeldList{destroy, list, held_lists_};
  }
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
