// SPDX-License-Identifier: BSD-3-Clause
// What a backend gets with init().
#pragma once

#include <type_traits>

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Valid during the call; all but the allocator may be null or empty.
class BackendInitContext final {
 public:
  explicit BackendInitContext(MemoryAllocator* runtime_allocator,
                              EventTracer* event_tracer = nullptr,
                              const char* method_name = nullptr,
                              const NamedDataMap* named_data_map = nullptr,
                              Span<const BackendOption> runtime_specs = {})
      : runtime_allocator_(runtime_allocator),
        event_tracer_(event_tracer),
        method_name_(method_name),
        named_data_map_(named_data_map),
        runtime_specs_(runtime_specs) {}

  /// Memory that lives as long as the method. It is not given back one by one: objects made in it
  /// are destroyed by the backend's destroy(), the bytes are not freed.
  MemoryAllocator* get_runtime_allocator() { return runtime_allocator_; }
  EventTracer* event_tracer() { return event_tracer_; }
  const char* get_method_name() const { return method_name_; }
  /// Named data of the program and of data files.
  const NamedDataMap* get_named_data_map() const { return named_data_map_; }

  /// The options given for this backend when the method was loaded.
  Span<const BackendOption> runtime_specs() const { return runtime_specs_; }

  /// One of them; T is bool, int or const char*. NotFound when it is not given, InvalidArgument
  /// when it has another type.
  template <typename T>
  Result<T> get_runtime_spec(const char* key) const {
    static_assert(
        std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, const char*>,
        "options are bool, int or const char*");
    T value{};
    ET_CHECK_OK_OR_RETURN_ERROR(
        executorch::runtime::internal::find_option(runtime_specs_, key, value));
    return value;
  }

 private:
  MemoryAllocator* runtime_allocator_;
  EventTracer* event_tracer_;
  const char* method_name_;
  const NamedDataMap* named_data_map_;
  Span<const BackendOption> runtime_specs_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::BackendInitContext;
}  // namespace torch::executor
