// SPDX-License-Identifier: BSD-3-Clause
// What a backend gets with each execute().
#pragma once

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Valid during the call. All pointers may be null.
class BackendExecutionContext final {
 public:
  BackendExecutionContext(EventTracer* event_tracer = nullptr,
                          MemoryAllocator* temp_allocator = nullptr,
                          const char* method_name = nullptr)
      : event_tracer_(event_tracer), temp_allocator_(temp_allocator), method_name_(method_name) {}

  EventTracer* event_tracer() { return event_tracer_; }
  MemoryAllocator* get_temp_allocator() { return temp_allocator_; }

  /// Memory that is valid until the call returns; null when there is none.
  void* allocate(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    return temp_allocator_ == nullptr ? nullptr : temp_allocator_->allocate(size, alignment);
  }

  const char* get_method_name() const { return method_name_; }

 private:
  EventTracer* event_tracer_;
  MemoryAllocator* temp_allocator_;
  const char* method_name_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::BackendExecutionContext;
}  // namespace torch::executor
