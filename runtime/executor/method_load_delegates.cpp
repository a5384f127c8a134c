// SPDX-License-Identifier: BSD-3-Clause
// Loading of a method's delegates: their data, compile specs and backends.
#include <cinttypes>
#include <new>
#include <utility>

#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_load.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/pte_data_map.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace fb = executorch_flatbuffer;
using internal::allocate;
using internal::count;

namespace {

Result<ArrayRef<CompileSpec>> make_compile_specs(const fb::BackendDelegate& delegate,
                                                 MemoryAllocator* allocator) {
  const auto* sources = delegate.compile_specs();
  CompileSpec* specs = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, count(sources), &specs));
  for (uint32_t i = 0; i < count(sources); ++i) {
    const fb::CompileSpec* source = sources->Get(i);
    ET_CHECK_OR_RETURN_ERROR(source->key() != nullptr, InvalidProgram,
                             "Compile spec %" PRIu32 " has no key", i);
    const auto* value = source->value();
    void* bytes = value == nullptr ? nullptr : const_cast<uint8_t*>(value->data());
    new (&specs[i]) CompileSpec{source->key()->c_str(), {bytes, count(value)}};
  }
  return ArrayRef<CompileSpec>(specs, count(sources));
}

}  // namespace

Error Method::init_delegates(const LoadOptions& options) {
  const auto* sources = plan_->delegates();
  if (count(sources) == 0) {
    return Error::Ok;
  }
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  LoadedDelegate* delegates = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, sources->size(), &delegates));
  const Result<const NamedDataMap*> named_data = program_->get_named_data_map();
  const NamedDataMap* own = named_data.ok() ? *named_data : nullptr;
  merged_data_map_ = own == nullptr ? options.named_data_map : own;
  if (own != nullptr && options.named_data_map != nullptr) {
    auto* merged = allocator->allocateInstance<internal::MergedDataMap>();
    if (merged == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    merged_data_map_ = new (merged) internal::MergedDataMap(options.named_data_map, own);
  }
  for (uint32_t i = 0; i < sources->size(); ++i) {
    const fb::BackendDelegate& source = *sources->Get(i);
    ET_CHECK_OR_RETURN_ERROR(source.id() != nullptr, InvalidProgram,
                             "Delegate %" PRIu32 " has no backend name", i);
    const char* name = source.id()->c_str();
    const BackendInterface* backend = get_backend_class(name);
    ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound,
                             "Backend %s is not registered. Link the library that registers it, "
                             "all of it (CMake target executorch::backends; XNNPACK: "
                             "xnnpack_backend).",
                             name);
    ET_CHECK_OR_RETURN_ERROR(backend->is_available(), NotFound,
                             "Backend %s is not available on this device.", name);
    FreeableBuffer data = ET_UNWRAP(program_->load_delegate_data(source));
    const ArrayRef<CompileSpec> specs = ET_UNWRAP(make_compile_specs(source, allocator));
    const Span<const BackendOption> runtime_specs =
        options.backend_options == nullptr ? Span<const BackendOption>()
                                           : options.backend_options->get_options(name);
    BackendInitContext context(allocator, event_tracer_, plan_->name()->c_str(), merged_data_map_,
                               runtime_specs);
    // The delegate may keep the buffer's address: it gets its final place before init().
    auto* delegate = new (&delegates[i]) LoadedDelegate{backend, nullptr, std::move(data)};
    const Result<DelegateHandle*> handle = backend->init(context, &delegate->data, specs);
    if (!handle.ok()) {
      ET_LOG(Error, "Backend %s failed to initialize delegate %" PRIu32 ": error 0x%" PRIx32, name,
             i, static_cast<uint32_t>(handle.error()));
      delegate->data.~FreeableBuffer();
      return handle.error();
    }
    delegate->handle = *handle;
    delegates_ = {delegates, i + 1};
  }
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
