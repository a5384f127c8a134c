// SPDX-License-Identifier: BSD-3-Clause
// What can be known about a module without running it.
#include <executorch/extension/c/module_object.h>
#include <executorch/extension/c/structs.h>

namespace executorch::extension::c {

using runtime::Error;
using runtime::MethodMeta;
using runtime::Result;
using runtime::SizeRange;
using runtime::Tag;
using runtime::TensorInfo;

namespace {

static_assert(EXECUTORCH_NONE == static_cast<int>(Tag::None));
static_assert(EXECUTORCH_TENSOR == static_cast<int>(Tag::Tensor));
static_assert(EXECUTORCH_STRING == static_cast<int>(Tag::String));
static_assert(EXECUTORCH_DOUBLE == static_cast<int>(Tag::Double));
static_assert(EXECUTORCH_INT == static_cast<int>(Tag::Int));
static_assert(EXECUTORCH_BOOLEAN == static_cast<int>(Tag::Bool));

Result<Tag> attribute_tag(const MethodMeta& meta, size_t index) {
  ET_CHECK_OK_OR_RETURN_ERROR(meta.attribute_tensor_meta(index).error());
  return Tag::Tensor;
}
std::string_view attribute_name(const MethodMeta& meta, size_t index) {
  const auto info = meta.attribute_tensor_meta(index);
  return info.ok() ? info->name() : std::string_view();
}

// How each port is asked, by ExecuTorchPort.
struct Port {
  size_t (*count)(const MethodMeta& meta);
  Result<Tag> (*tag)(const MethodMeta& meta, size_t index);
  Result<TensorInfo> (*tensor)(const MethodMeta& meta, size_t index);
  std::string_view (*name)(const MethodMeta& meta, size_t index);
  Result<SizeRange> (*range)(const MethodMeta& meta, size_t index, size_t dimension);  // or null
};
constexpr Port kPorts[] = {
    {[](const MethodMeta& meta) { return meta.num_inputs(); },
     [](const MethodMeta& meta, size_t index) { return meta.input_tag(index); },
     [](const MethodMeta& meta, size_t index) { return meta.input_tensor_meta(index); },
     [](const MethodMeta& meta, size_t index) { return meta.input_name(index); },
     [](const MethodMeta& meta, size_t index, size_t dimension) {
       return meta.input_size_range(index, dimension);
     }},
    {[](const MethodMeta& meta) { return meta.num_outputs(); },
     [](const MethodMeta& meta, size_t index) { return meta.output_tag(index); },
     [](const MethodMeta& meta, size_t index) { return meta.output_tensor_meta(index); },
     [](const MethodMeta& meta, size_t index) { return meta.output_name(index); },
     [](const MethodMeta& meta, size_t index, size_t dimension) {
       return meta.output_size_range(index, dimension);
     }},
    {[](const MethodMeta& meta) { return meta.num_attributes(); }, attribute_tag,
     [](const MethodMeta& meta, size_t index) { return meta.attribute_tensor_meta(index); },
     attribute_name, nullptr},
};

Result<const Port*> checked_port(int32_t port) {
  ET_CHECK_OR_RETURN_ERROR(port >= EXECUTORCH_INPUT && port <= EXECUTORCH_ATTRIBUTE,
                           InvalidArgument, "expected a port from 0 to %d, found %d",
                           EXECUTORCH_ATTRIBUTE, port);
  return &kPorts[port];
}

Error describe_value(const MethodMeta& meta, const Port& port, size_t index,
                     MethodRecord::Value& value, ExecuTorchValueInfo* out_info) {
  ExecuTorchValueInfo info{};
  const Tag tag = ET_UNWRAP(port.tag(meta, index));
  value.name = port.name(meta, index);
  info.name = value.name.c_str();
  info.kind = static_cast<int32_t>(tag);
  info.dtype = -1;
  if (tag == Tag::Tensor) {
    const TensorInfo tensor = ET_UNWRAP(port.tensor(meta, index));
    info.dtype = static_cast<int32_t>(tensor.scalar_type());
    info.rank = tensor.sizes().size();
    info.sizes = tensor.sizes().data();
    info.dim_order = tensor.dim_order().data();
    info.num_bytes = tensor.nbytes();
    info.is_planned = tensor.is_memory_planned() ? 1 : 0;
    value.min_sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    for (size_t i = 0; port.range != nullptr && i < info.rank; ++i) {
      value.min_sizes[i] = ET_UNWRAP(port.range(meta, index, i))
      .min;
    }
    info.min_sizes = value.min_sizes.data();
  }
  write_struct(info, out_info);
  return Error::Ok;
}

}  // namespace

Result<MethodMeta> ModuleObject::meta(const std::string& method) {
  return module->method_meta(method);
}

Result<MethodRecord*> ModuleObject::record(const char* method) {
  if (last != nullptr && last->name == (method == nullptr ? "forward" : method)) {
    return last;
  }
  const std::string name = name_of_method(method);
  const auto known = records.find(name);
  if (known != records.end()) {
    return last = &known->second;
  }
  const MethodMeta its_meta = ET_UNWRAP(meta(name));
  last = &records[name];
  last->name = name;
  last->num_outputs = its_meta.num_outputs();
  return last;
}

ExecuTorchStatus method_name(ExecuTorchModule module, size_t index,
                             const char** out_name) noexcept {
  return guard("method_name", [&]() -> Error {
    ET_C_NOT_NULL(out_name);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module));
    const auto program = pin->module->program();
    ET_CHECK_OK_OR_RETURN_ERROR(check_below(program->num_methods(), index, "method"));
    *out_name = ET_UNWRAP(program->get_method_name(index));
    return Error::Ok;
  });
}

ExecuTorchStatus user_metadata(ExecuTorchModule module, const char** out_json) noexcept {
  return guard("user_metadata", [&]() -> Error {
    ET_C_NOT_NULL(out_json);
    *out_json = ET_UNWRAP(Pin<ModuleObject>::take(module))
    ->user_metadata.c_str();
    return Error::Ok;
  });
}

ExecuTorchStatus method_info(ExecuTorchModule module, const char* method,
                             ExecuTorchMethodInfo* out_info) noexcept {
  return guard("method_info", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_struct(out_info));
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const std::string name = name_of_method(method);
    const MethodMeta meta = ET_UNWRAP(pin->meta(name));
    ExecuTorchMethodInfo info{};
    info.num_inputs = meta.num_inputs();
    info.num_outputs = meta.num_outputs();
    info.num_attributes = meta.num_attributes();
    info.num_planned_buffers = meta.num_memory_planned_buffers();
    info.num_backends = meta.num_backends();
    info.is_loaded = pin->module->is_method_loaded(name) ? 1 : 0;
    write_struct(info, out_info);
    return Error::Ok;
  });
}

ExecuTorchStatus value_info(ExecuTorchModule module, const char* method, int32_t port, size_t index,
                            ExecuTorchValueInfo* out_info) noexcept {
  return guard("value_info", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_struct(out_info));
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const Port* const asked = ET_UNWRAP(checked_port(port));
    const MethodMeta meta = ET_UNWRAP(pin->meta(name_of_method(method)));
    ET_CHECK_OK_OR_RETURN_ERROR(check_below(asked->count(meta), index, "value"));
    MethodRecord* const record = ET_UNWRAP(pin->record(method));
    return describe_value(meta, *asked, index, record->values[{port, index}], out_info);
  });
}

ExecuTorchStatus value_index(ExecuTorchModule module, const char* method, int32_t port,
                             const char* name, size_t* out_index) noexcept {
  return guard("value_index", [&]() -> Error {
    ET_C_NOT_NULL(name);
    ET_C_NOT_NULL(out_index);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const Port* const asked = ET_UNWRAP(checked_port(port));
    const std::string method_name = name_of_method(method);
    const MethodMeta meta = ET_UNWRAP(pin->meta(method_name));
    std::string known;
    for (size_t i = 0; i < asked->count(meta); ++i) {
      const std::string_view each = asked->name(meta, i);
      if (!each.empty() && each == name) {
        *out_index = i;
        return Error::Ok;
      }
      known += each.empty() ? "" : (known.empty() ? "" : ", ") + std::string(each);
    }
    ET_LOG(Error, "method %s: expected one of the names %s, found %s", method_name.c_str(),
           known.empty() ? "(the program has none)" : known.c_str(), name);
    return Error::NotFound;
  });
}

ExecuTorchStatus planned_buffer_size(ExecuTorchModule module, const char* method, size_t index,
                                     size_t* out_size) noexcept {
  return guard("planned_buffer_size", [&]() -> Error {
    ET_C_NOT_NULL(out_size);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const MethodMeta meta = ET_UNWRAP(pin->meta(name_of_method(method)));
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_below(meta.num_memory_planned_buffers(), index, "planned buffer"));
    *out_size = static_cast<size_t>(ET_UNWRAP(meta.memory_planned_buffer_size(index)));
    return Error::Ok;
  });
}

ExecuTorchStatus method_backend(ExecuTorchModule module, const char* method, size_t index,
                                const char** out_name) noexcept {
  return guard("method_backend", [&]() -> Error {
    ET_C_NOT_NULL(out_name);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const MethodMeta meta = ET_UNWRAP(pin->meta(name_of_method(method)));
    ET_CHECK_OK_OR_RETURN_ERROR(check_below(meta.num_backends(), index, "backend"));
    *out_name = ET_UNWRAP(meta.get_backend_name(index));
    return Error::Ok;
  });
}

}  // namespace executorch::extension::c
