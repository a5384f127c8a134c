// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/module_object.h>

#include <limits>

#include <executorch/extension/c/parts/training.h>
#include <executorch/extension/c/structs.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>

namespace executorch::extension::c {

using runtime::DataLoader;
using runtime::Error;
using runtime::MemoryAllocator;
using runtime::Result;
using runtime::Span;

namespace {

// What the memory planner and the loader of methods count on.
constexpr uintptr_t kBufferAlignment = 16;

// Null for no memory.
Result<std::unique_ptr<MemoryAllocator>> allocator_of(const ExecuTorchMemory& memory,
                                                      const char* what) {
  if (memory.data == nullptr && memory.size == 0) {
    return std::unique_ptr<MemoryAllocator>();
  }
  ET_CHECK_OR_RETURN_ERROR(
      memory.data != nullptr && memory.size <= std::numeric_limits<uint32_t>::max(),
      InvalidArgument, "expected at most %u bytes of memory for %s, found %zu at %p",
      std::numeric_limits<uint32_t>::max(), what, memory.size, memory.data);
  return std::make_unique<MemoryAllocator>(static_cast<uint32_t>(memory.size),
                                           static_cast<uint8_t*>(memory.data));
}

Result<std::vector<std::unique_ptr<DataLoader>>> open_data_files(const Sources& sources) {
  std::vector<std::unique_ptr<DataLoader>> loaders;
  for (const auto& each : sources.data_files) {
    loaders.push_back(ET_UNWRAP(ModuleOfSources::open(*each, sources.load_mode)));
  }
  return loaders;
}

// All but the module itself.
Result<std::unique_ptr<ModuleObject>> begin(std::shared_ptr<Sources> sources) {
  auto object = std::make_unique<ModuleObject>();
  if (sources->records_events) {
    object->events = ET_UNWRAP(Events::create(sources->value_buffer_size));
  }
  object->sources = std::move(sources);
  return object;
}

// The module is ready, or not there.
Error finish(ModuleObject& object, std::unique_ptr<Module> module) {
  using Verification = runtime::Program::Verification;
  ET_CHECK_OK_OR_RETURN_ERROR(module->load(ET_UNWRAP(object.sources->backend_options.map()),
                                           object.sources->is_structure_trusted
                                               ? Verification::Minimal
                                               : Verification::InternalConsistency));
  object.user_metadata = ET_UNWRAP(module->user_metadata());
  object.module = std::move(module);
  return Error::Ok;
}

std::unique_ptr<runtime::EventTracer> tracer_of(const ModuleObject& object) {
  return object.events == nullptr ? nullptr : object.events->make_tracer();
}

Result<std::unique_ptr<Module>> make_module(ModuleObject& object,
                                            const ExecuTorchModuleOptions& given) {
  const Sources& sources = *object.sources;
  auto program = ET_UNWRAP(ModuleOfSources::open(*sources.program, sources.load_mode));
  auto data_files = ET_UNWRAP(open_data_files(sources));
  auto methods = ET_UNWRAP(allocator_of(given.method_memory, "methods"));
  auto scratch = ET_UNWRAP(allocator_of(given.scratch_memory, "kernels"));
  if (object.is_for_training) {
    ET_CHECK_OR_RETURN_ERROR(data_files.size() <= 1, NotSupported,
                             "expected at most 1 data file for training, found %zu",
                             data_files.size());
    return make_training_module(std::move(program), std::move(methods), std::move(scratch),
                                tracer_of(object),
                                data_files.empty() ? nullptr : std::move(data_files[0]));
  }
  auto module =
      std::make_unique<ModuleOfSources>(std::move(program), std::move(methods), std::move(scratch),
                                        tracer_of(object), nullptr, sources.shares_planned_memory);
  module->set_data_map_loaders(std::move(data_files));
  return std::unique_ptr<Module>(std::move(module));
}

Result<Handle> hand_out(std::unique_ptr<ModuleObject> object) {
  const std::shared_ptr<Sources> sources = object->sources;
  const Handle handle = add(Kind::Module, std::move(object));
  ET_CHECK_OR_RETURN_ERROR(handle != 0, MemoryAllocationFailed,
                           "there is no place for another handle: release some");
  sources->program->take_over();
  for (const auto& each : sources->data_files) {
    each->take_over();
  }
  return handle;
}

Error check_buffer(const ExecuTorchMemory& buffer, size_t index, int64_t expected) {
  ET_CHECK_OR_RETURN_ERROR(
      buffer.size >= static_cast<uint64_t>(expected) && (buffer.data != nullptr || expected == 0),
      InvalidArgument, "expected %" PRId64 " bytes for planned buffer %zu, found %zu at %p",
      expected, index, buffer.size, buffer.data);
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(buffer.data) % kBufferAlignment == 0,
                           InvalidArgument,
                           "expected planned buffer %zu at a multiple of %zu bytes, found %p",
                           index, static_cast<size_t>(kBufferAlignment), buffer.data);
  return Error::Ok;
}

Error lend(ModuleObject& object, const std::string& method, const ExecuTorchMemory* buffers,
           size_t num_buffers) {
  ET_CHECK_OR_RETURN_ERROR(!object.module->is_method_loaded(method), AlreadyLoaded,
                           "method %s has memory already: unload it before", method.c_str());
  const auto meta = ET_UNWRAP(object.meta(method));
  ET_CHECK_OR_RETURN_ERROR(num_buffers == meta.num_memory_planned_buffers(), InvalidArgument,
                           "method %s: expected %zu planned buffers, found %zu", method.c_str(),
                           meta.num_memory_planned_buffers(), num_buffers);
  std::vector<Span<uint8_t>> spans;
  for (size_t i = 0; i < num_buffers; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_buffer(buffers[i], i, ET_UNWRAP(meta.memory_planned_buffer_size(i))));
    spans.emplace_back(static_cast<uint8_t*>(buffers[i].data), buffers[i].size);
  }
  auto planned_memory = std::make_unique<runtime::HierarchicalAllocator>(
      Span<Span<uint8_t>>(spans.data(), spans.size()));
  ET_CHECK_OK_OR_RETURN_ERROR(object.module->load_method(method, planned_memory.get()));
  MethodState& state = ET_UNWRAP(object.record(method.c_str()))
  ->started();
  state.buffers = std::move(spans);
  state.planned_memory = std::move(planned_memory);
  return Error::Ok;
}

}  // namespace

Result<std::unique_ptr<DataLoader>> ModuleOfSources::open(const Source& source,
                                                          LoadMode load_mode) {
  if (source.is_path()) {
    return open_file(source.path(), load_mode);
  }
  return std::unique_ptr<DataLoader>(
      std::make_unique<BufferDataLoader>(source.data(), source.size()));
}

Result<Handle> LentTensor::lend(const executorch::aten::Tensor& its_tensor) {
  const void* const its_impl = its_tensor.unsafeGetTensorImpl();
  if (!is_live(handle)) {
    handle = ET_UNWRAP(make_handle<TensorObject>(its_tensor));
  } else if (impl != its_impl) {
    const auto pin = ET_UNWRAP(Pin<TensorObject>::take(handle));
    pin->tensor = its_tensor;
  }
  impl = its_impl;
  return handle;
}

void LentTensor::end() {
  if (is_live(handle)) {
    (void)release(handle);
  }
}

MethodState::~MethodState() {
  for (LentTensor& each : outputs) {
    each.end();
  }
  for (auto& [name, each] : trained) {
    each.end();
  }
}

ExecuTorchStatus module_load(const ExecuTorchModuleOptions* options,
                             ExecuTorchModule* out_module) noexcept {
  return guard("module_load", [&]() -> Error {
    ET_C_NOT_NULL(out_module);
    const ExecuTorchModuleOptions given = ET_UNWRAP(read_struct(options));
    auto object = ET_UNWRAP(begin(ET_UNWRAP(Sources::create(given))));
    object->is_for_training = given.is_for_training != 0;
    ET_CHECK_OK_OR_RETURN_ERROR(finish(*object, ET_UNWRAP(make_module(*object, given))));
    *out_module = ET_UNWRAP(hand_out(std::move(object)));
    return Error::Ok;
  });
}

ExecuTorchStatus module_share(ExecuTorchModule module, ExecuTorchModule* out_module) noexcept {
  return guard("module_share", [&]() -> Error {
    ET_C_NOT_NULL(out_module);
    const auto first = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    ET_CHECK_OR_RETURN_ERROR(!first->is_for_training, NotSupported,
                             "a module for training cannot share its program");
    auto object = ET_UNWRAP(begin(first->sources));
    auto second = std::make_unique<ModuleOfSources>(first->module->program(), nullptr, nullptr,
                                                    tracer_of(*object), nullptr,
                                                    object->sources->shares_planned_memory);
    second->set_data_map_loaders(ET_UNWRAP(open_data_files(*object->sources)));
    ET_CHECK_OK_OR_RETURN_ERROR(finish(*object, std::move(second)));
    *out_module = ET_UNWRAP(hand_out(std::move(object)));
    return Error::Ok;
  });
}

ExecuTorchStatus load_method(ExecuTorchModule module, const char* method,
                             const ExecuTorchMemory* buffers, size_t num_buffers) noexcept {
  return guard("load_method", [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(buffers, num_buffers, "planned buffers"));
    const std::string name = name_of_method(method);
    return num_buffers == 0 ? pin->module->load_method(name)
                            : lend(*pin, name, buffers, num_buffers);
  });
}

ExecuTorchStatus unload_method(ExecuTorchModule module, const char* method) noexcept {
  return guard("unload_method", [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    MethodRecord* const record = ET_UNWRAP(pin->record(method));
    pin->module->unload_method(record->name);
    record->state.reset();
    return Error::Ok;
  });
}

ExecuTorchStatus module_take_events(ExecuTorchModule module, ExecuTorchMemory* out_events,
                                    ExecuTorchMemory* out_values) noexcept {
  return guard("module_take_events", [&]() -> Error {
    ET_C_NOT_NULL(out_events);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    ET_CHECK_OR_RETURN_ERROR(pin->events != nullptr, InvalidState,
                             "expected a module that was loaded with records_events");
    ExecuTorchMemory values{};
    ET_CHECK_OK_OR_RETURN_ERROR(pin->events->take(out_events, &values));
    if (out_values != nullptr) {
      *out_values = values;
    }
    return Error::Ok;
  });
}

}  // namespace executorch::extension::c
