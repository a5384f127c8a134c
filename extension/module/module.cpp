// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/module/module.h>

#include <algorithm>
#include <string_view>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::extension::ET_MODULE_NAMESPACE {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::EventTracer;
using runtime::HierarchicalAllocator;
using runtime::MemoryAllocator;
using runtime::MemoryManager;
using runtime::Result;
using runtime::Span;

namespace {

template <typename Loader>
Result<std::unique_ptr<DataLoader>> own(Result<Loader> loader) {
  ET_CHECK_OK_OR_RETURN_ERROR(loader.error());
  return std::unique_ptr<DataLoader>(std::make_unique<Loader>(std::move(loader.get())));
}

std::unique_ptr<MemoryAllocator> or_malloc(std::unique_ptr<MemoryAllocator> allocator) {
  return allocator != nullptr ? std::move(allocator) : std::make_unique<MallocMemoryAllocator>();
}

using GetName = std::string_view (MethodMeta::*)(size_t) const;

std::vector<std::string> names_of(const MethodMeta& meta, size_t count, GetName get_name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.emplace_back((meta.*get_name)(i));
  }
  return names;
}

// Which of the names it is. `kind`: "input" or "output".
Result<size_t> find_name(const std::vector<std::string>& names, const std::string& name,
                         const std::string& method_name, const char* kind) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (!name.empty() && found != names.end()) {
    return static_cast<size_t>(found - names.begin());
  }
  std::string known;
  for (const std::string& each : names) {
    known += each.empty() ? "" : (known.empty() ? "" : ", ") + each;
  }
  ET_CHECK_OR_RETURN_ERROR(!known.empty(), InvalidArgument,
                           "Method %s: the program has no names of its %ss, so there is none named "
                           "%s: go by their order",
                           method_name.c_str(), kind, name.c_str());
  ET_LOG(Error, "Method %s: expected an %s of %s, found %s", method_name.c_str(), kind,
         known.c_str(), name.c_str());
  return Error::InvalidArgument;
}

// For messages: its name, or its number.
std::string label_of(const Method& method, size_t input) {
  const std::string_view name = method.method_meta().input_name(input);
  return name.empty() ? std::to_string(input) : std::string(name);
}

}  // namespace

Module::Module(const std::string& file_path, const LoadMode load_mode,
               std::unique_ptr<EventTracer> event_tracer,
               std::unique_ptr<MemoryAllocator> memory_allocator,
               std::unique_ptr<MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : Module(file_path, std::vector<std::string>(), load_mode, std::move(event_tracer),
             std::move(memory_allocator), std::move(temp_allocator), share_memory_arenas) {}

Module::Module(const std::string& file_path, const std::string& data_map_path,
               const LoadMode load_mode, std::unique_ptr<EventTracer> event_tracer,
               std::unique_ptr<MemoryAllocator> memory_allocator,
               std::unique_ptr<MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : Module(file_path,
             data_map_path.empty() ? std::vector<std::string>()
                                   : std::vector<std::string>{data_map_path},
             load_mode, std::move(event_tracer), std::move(memory_allocator),
             std::move(temp_allocator), share_memory_arenas) {}

Module::Module(const std::string& file_path, std::vector<std::string> data_files,
               const LoadMode load_mode, std::unique_ptr<EventTracer> event_tracer,
               std::unique_ptr<MemoryAllocator> memory_allocator,
               std::unique_ptr<MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : file_path_(file_path),
      data_files_(std::move(data_files)),
      load_mode_(load_mode),
      share_memory_arenas_(share_memory_arenas),
      event_tracer_(std::move(event_tracer)),
      memory_allocator_(or_malloc(std::move(memory_allocator))),
      temp_allocator_(or_malloc(std::move(temp_allocator))) {
  runtime::runtime_init();
}

Module::Module(std::unique_ptr<DataLoader> data_loader,
               std::unique_ptr<MemoryAllocator> memory_allocator,
               std::unique_ptr<MemoryAllocator> temp_allocator,
               std::unique_ptr<EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : share_memory_arenas_(share_memory_arenas),
      event_tracer_(std::move(event_tracer)),
      memory_allocator_(or_malloc(std::move(memory_allocator))),
      temp_allocator_(or_malloc(std::move(temp_allocator))),
      data_loader_(std::move(data_loader)) {
  if (data_map_loader != nullptr) {
    data_map_loaders_.push_back(std::move(data_map_loader));
  }
  runtime::runtime_init();
}

Module::Module(std::shared_ptr<Program> program, std::unique_ptr<MemoryAllocator> memory_allocator,
               std::unique_ptr<MemoryAllocator> temp_allocator,
               std::unique_ptr<EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : Module(std::unique_ptr<DataLoader>(), std::move(memory_allocator), std::move(temp_allocator),
             std::move(event_tracer), std::move(data_map_loader), share_memory_arenas) {
  program_ = std::move(program);
}

Result<std::unique_ptr<DataLoader>> Module::open_file(const std::string& path, LoadMode load_mode) {
  using Lock = MmapDataLoader::MlockConfig;
  switch (load_mode) {
    case LoadMode::File:
      return own(FileDataLoader::from(path.c_str()));
    case LoadMode::Mmap:
      return own(MmapDataLoader::from(path.c_str(), Lock::NoMlock));
    case LoadMode::MmapUseMlock:
      return own(MmapDataLoader::from(path.c_str(), Lock::UseMlock));
    case LoadMode::MmapUseMlockIgnoreErrors:
      return own(MmapDataLoader::from(path.c_str(), Lock::UseMlockIgnoreErrors));
    case LoadMode::MmapUseMadvise:
      return own(MmapDataLoader::from(path.c_str(), Lock::UseMadvise));
  }
  ET_LOG(Error, "There is no load mode %d", static_cast<int>(load_mode));
  return Error::InvalidArgument;
}

Error Module::load_data_files() {
  if (data_map_loaders_.empty()) {
    std::vector<std::unique_ptr<DataLoader>> loaders;
    for (const std::string& path : data_files_) {
      loaders.push_back(ET_UNWRAP(open_file(path, load_mode_)));
    }
    data_map_loaders_ = std::move(loaders);
  }
  std::vector<std::unique_ptr<NamedDataMap>> maps;
  std::vector<const NamedDataMap*> borrowed;
  for (const auto& loader : data_map_loaders_) {
    maps.push_back(
        std::make_unique<FlatTensorDataMap>(ET_UNWRAP(FlatTensorDataMap::load(loader.get()))));
    borrowed.push_back(maps.back().get());
  }
  if (borrowed.size() > 1) {
    merged_data_map_ = std::make_unique<MergedDataMap>(ET_UNWRAP(
        MergedDataMap::load(Span<const NamedDataMap*>(borrowed.data(), borrowed.size()))));
  }
  data_maps_ = std::move(maps);
  return Error::Ok;
}

Error Module::load(const Program::Verification verification) {
  if (data_maps_.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(load_data_files());
  }
  if (is_loaded()) {
    return Error::Ok;
  }
  if (data_loader_ == nullptr) {
    data_loader_ = ET_UNWRAP(open_file(file_path_, load_mode_));
  }
  auto program =
      std::make_unique<Program>(ET_UNWRAP(Program::load(data_loader_.get(), verification)));
  // Whoever shares the program keeps its loader, too.
  struct Loaded {
    std::unique_ptr<DataLoader> loader;
    std::unique_ptr<Program> program;
  };
  auto owner = std::make_shared<Loaded>(Loaded{std::move(data_loader_), std::move(program)});
  program_ = std::shared_ptr<Program>(owner, owner->program.get());
  return Error::Ok;
}

Error Module::load(const LoadBackendOptionsMap& backend_options,
                   const Program::Verification verification) {
  ET_CHECK_OK_OR_RETURN_ERROR(load(verification));
  std::vector<std::vector<runtime::BackendOption>> copies;
  LoadBackendOptionsMap map;
  for (size_t i = 0; i < backend_options.size(); ++i) {
    const auto entry = backend_options.entry_at(i);
    copies.emplace_back(entry.options.begin(), entry.options.end());
    ET_CHECK_OK_OR_RETURN_ERROR(
        map.set_options(entry.backend_id, {copies.back().data(), copies.back().size()}));
  }
  option_copies_ = std::move(copies);
  backend_options_ = map;
  return Error::Ok;
}

Result<size_t> Module::num_methods() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program_->num_methods();
}

Result<std::unordered_set<std::string>> Module::method_names() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) {
    names.insert(ET_UNWRAP(program_->get_method_name(i)));
  }
  return names;
}

Result<MethodMeta> Module::method_meta(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program_->method_meta(method_name.c_str());
}

Result<std::vector<std::string>> Module::input_names(const std::string& method_name) {
  const MethodMeta meta = ET_UNWRAP(method_meta(method_name));
  return names_of(meta, meta.num_inputs(), &MethodMeta::input_name);
}

Result<std::vector<std::string>> Module::output_names(const std::string& method_name) {
  const MethodMeta meta = ET_UNWRAP(method_meta(method_name));
  return names_of(meta, meta.num_outputs(), &MethodMeta::output_name);
}

Result<std::string> Module::user_metadata() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return std::string(program_->user_metadata());
}

Result<std::unique_ptr<Module::PlannedMemory>> Module::make_planned_memory(const MethodMeta& meta) {
  if (share_memory_arenas_ && !shared_arenas_.is_allocated()) {
    ET_CHECK_OK_OR_RETURN_ERROR(shared_arenas_.allocate(*program_));
  }
  auto planned = std::make_unique<PlannedMemory>();
  bool has_device = false;
  for (size_t id = 0; id < meta.num_memory_planned_buffers(); ++id) {
    const auto size = static_cast<size_t>(ET_UNWRAP(meta.memory_planned_buffer_size(id)));
    const auto device = ET_UNWRAP(meta.memory_planned_buffer_device(id));
    planned->planned_devices.push_back(device);
    if (!device.is_cpu()) {
      ET_CHECK_OR_RETURN_ERROR(!share_memory_arenas_, NotSupported,
                               "Method %s plans memory of another device, which methods cannot "
                               "share: make the Module without share_memory_arenas",
                               meta.name());
      has_device = true;
      planned->device_buffers.push_back(
          ET_UNWRAP(runtime::DeviceMemoryBuffer::create(size, device.type(), device.index())));
      planned->planned_spans.push_back(planned->device_buffers.back().as_span());
    } else if (share_memory_arenas_ && id < SharedArenas::kMaxArenas) {
      planned->planned_spans.push_back(shared_arenas_.arena(id, size));
    } else {
      planned->planned_buffers.push_back(make_zeroed_bytes(size));
      ET_CHECK_OR_RETURN_ERROR(planned->planned_buffers.back() != nullptr, MemoryAllocationFailed,
                               "Method %s plans %zu bytes of memory, which cannot be had",
                               meta.name(), size);
      planned->planned_spans.emplace_back(planned->planned_buffers.back().get(), size);
    }
  }
  const Span<Span<uint8_t>> spans(planned->planned_spans.data(), planned->planned_spans.size());
  planned->planned_memory =
      has_device ? std::make_unique<HierarchicalAllocator>(
                       spans, Span<const runtime::etensor::Device>(planned->planned_devices.data(),
                                                                   planned->planned_devices.size()))
                 : std::make_unique<HierarchicalAllocator>(spans);
  if (!share_memory_arenas_) {
    planned->planned_memory->mark_zeroed();
  }
  return planned;
}

Result<Method> Module::make_method(const std::string& method_name, MethodHolder& holder,
                                   EventTracer* event_tracer,
                                   const LoadBackendOptionsMap* backend_options) {
  const NamedDataMap* data_map = merged_data_map_ != nullptr ? merged_data_map_.get()
                                 : data_maps_.empty()        ? nullptr
                                                             : data_maps_[0].get();
  if (backend_options == nullptr && backend_options_.size() > 0) {
    backend_options = &backend_options_;
  }
  return program_->load_method(
      method_name.c_str(), holder.memory_manager.get(),
      event_tracer != nullptr ? event_tracer : event_tracer_.get(), data_map, backend_options,
      Span<const Kernel>(holder.kernel_registry.data(), holder.kernel_registry.size()));
}

Error Module::load_method(const std::string& method_name, HierarchicalAllocator* planned_memory,
                          EventTracer* event_tracer, const LoadBackendOptionsMap* backend_options,
                          std::vector<Kernel> kernel_registry) {
  if (is_method_loaded(method_name)) {
    return Error::Ok;
  }
  const MethodMeta meta = ET_UNWRAP(method_meta(method_name));
  MethodHolder holder;
  holder.kernel_registry = std::move(kernel_registry);
  if (planned_memory == nullptr) {
    holder.planned_memory = ET_UNWRAP(make_planned_memory(meta));
    planned_memory = holder.planned_memory->planned_memory.get();
  }
  holder.memory_manager = std::make_unique<MemoryManager>(memory_allocator_.get(), planned_memory,
                                                          temp_allocator_.get());
  if (methods_.empty()) {
    shared_arenas_.forget_state();
  }
  const SharedArenas::Contents before =
      methods_.empty() ? SharedArenas::Contents() : shared_arenas_.contents();
  Result<Method> method = make_method(method_name, holder, event_tracer, backend_options);
  if (!method.ok()) {
    shared_arenas_.restore(before);
    return method.error();
  }
  shared_arenas_.settle(*method, before);
  holder.method = std::make_unique<Method>(std::move(method.get()));
  holder.inputs.resize(holder.method->inputs_size());
  methods_.emplace(method_name, std::move(holder));
  return Error::Ok;
}

Result<Module::MethodHolder*> Module::loaded(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load_method(method_name));
  return &methods_.at(method_name);
}

Result<std::vector<Span<uint8_t>>> Module::planned_memory(const std::string& method_name) {
  const MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  ET_CHECK_OR_RETURN_ERROR(
      holder->planned_memory != nullptr && holder->planned_memory->device_buffers.empty(),
      NotSupported, "The planned memory of method %s is not the Module's own, or a device's",
      method_name.c_str());
  return holder->planned_memory->planned_spans;
}

Result<Method*> Module::method(const std::string& method_name) {
  return ET_UNWRAP(loaded(method_name))
  ->method.get();
}

Result<std::vector<EValue>> Module::execute(const std::string& method_name,
                                            const std::vector<EValue>& input_values) {
  MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  const size_t count = holder->inputs.size();
  ET_CHECK_OR_RETURN_ERROR(input_values.size() <= count, InvalidArgument,
                           "Method %s: expected %zu inputs, got %zu", method_name.c_str(), count,
                           input_values.size());
  for (size_t i = 0; i < count; ++i) {
    const bool is_given = i < input_values.size() && !input_values[i].isNone();
    const EValue& value = is_given ? input_values[i] : holder->inputs[i];
    runtime::Tag tag = value.tag;
    if (value.isNone()) {
      tag = ET_UNWRAP(holder->method->method_meta().input_tag(i));
    }
    ET_CHECK_OR_RETURN_ERROR(value.tag == tag, InvalidArgument,
                             "Method %s: expected %zu inputs, input %s is missing",
                             method_name.c_str(), count, label_of(*holder->method, i).c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(holder->method->set_input(value, i),
                                "Method %s: input %s does not fit", method_name.c_str(),
                                label_of(*holder->method, i).c_str());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(holder->method->execute());
  return get_outputs(method_name);
}

Result<std::vector<EValue>> Module::execute(const std::string& method_name,
                                            const std::vector<NamedValue>& named_values) {
  const std::vector<std::string> names = ET_UNWRAP(input_names(method_name));
  std::vector<EValue> values(names.size());
  std::vector<bool> is_given(names.size());
  for (const NamedValue& named : named_values) {
    const size_t index = ET_UNWRAP(find_name(names, named.name, method_name, "input"));
    ET_CHECK_OR_RETURN_ERROR(!is_given[index], InvalidArgument,
                             "Method %s: input %s is given twice", method_name.c_str(),
                             named.name.c_str());
    is_given[index] = true;
    values[index] = named.value;
  }
  return execute(method_name, values);
}

Error Module::set_input(const std::string& method_name, const EValue& input_value,
                        size_t input_index) {
  MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  ET_CHECK_OR_RETURN_ERROR(input_index < holder->inputs.size(), InvalidArgument,
                           "Method %s: expected an input index below %zu, got %zu",
                           method_name.c_str(), holder->inputs.size(), input_index);
  if (!input_value.isNone()) {
    ET_CHECK_OK_OR_RETURN_ERROR(holder->method->set_input(input_value, input_index),
                                "Method %s: input %s does not fit", method_name.c_str(),
                                label_of(*holder->method, input_index).c_str());
  }
  // Stored as well: planned input memory may be reused for other values during an execution.
  holder->inputs[input_index] = input_value;
  return Error::Ok;
}

Error Module::set_inputs(const std::string& method_name, const std::vector<EValue>& input_values) {
  const size_t count = ET_UNWRAP(loaded(method_name))
  ->inputs.size();
  ET_CHECK_OR_RETURN_ERROR(input_values.size() == count, InvalidArgument,
                           "Method %s: expected %zu inputs, got %zu", method_name.c_str(), count,
                           input_values.size());
  for (size_t i = 0; i < count; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(set_input(method_name, input_values[i], i));
  }
  return Error::Ok;
}

Error Module::set_output(const std::string& method_name, EValue output_value, size_t output_index) {
  MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  ET_CHECK_OR_RETURN_ERROR(
      output_value.isTensor(), InvalidArgument,
      "Method %s: only tensors can be set as output %zu, got a value of kind %s",
      method_name.c_str(), output_index, runtime::tag_to_string(output_value.tag));
  const auto info = ET_UNWRAP(holder->method->method_meta().output_tensor_meta(output_index));
  const auto& tensor = output_value.toTensor();
  ET_CHECK_OR_RETURN_ERROR(
      tensor.scalar_type() == info.scalar_type(), InvalidArgument,
      "Method %s: output %zu has elements of type %d, the tensor to set of type %d",
      method_name.c_str(), output_index, static_cast<int>(info.scalar_type()),
      static_cast<int>(tensor.scalar_type()));
  return holder->method->set_output_data_ptr(tensor.mutable_data_ptr(), tensor.nbytes(),
                                             output_index);
}

Error Module::set_outputs(const std::string& method_name,
                          const std::vector<EValue>& output_values) {
  const size_t count = ET_UNWRAP(loaded(method_name))
  ->method->outputs_size();
  ET_CHECK_OR_RETURN_ERROR(output_values.size() == count, InvalidArgument,
                           "Method %s: expected %zu outputs, got %zu", method_name.c_str(), count,
                           output_values.size());
  for (size_t i = 0; i < count; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(set_output(method_name, output_values[i], i));
  }
  return Error::Ok;
}

Result<std::vector<EValue>> Module::get_outputs(const std::string& method_name) {
  MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  std::vector<EValue> outputs(holder->method->outputs_size());
  if (!outputs.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(holder->method->get_outputs(outputs.data(), outputs.size()));
  }
  return outputs;
}

Result<EValue> Module::get_output(const std::string& method_name, size_t output_index) {
  MethodHolder* holder = ET_UNWRAP(loaded(method_name));
  ET_CHECK_OR_RETURN_ERROR(output_index < holder->method->outputs_size(), InvalidArgument,
                           "Method %s: expected an output index below %zu, got %zu",
                           method_name.c_str(), holder->method->outputs_size(), output_index);
  return holder->method->get_output(output_index);
}

Result<EValue> Module::get_named_output(const std::string& output_name,
                                        const std::string& method_name) {
  const std::vector<std::string> names = ET_UNWRAP(output_names(method_name));
  const size_t index = ET_UNWRAP(find_name(names, output_name, method_name, "output"));
  return get_output(method_name, index);
}

}  // namespace executorch::extension::ET_MODULE_NAMESPACE
