// SPDX-License-Identifier: BSD-3-Clause
// KernelRuntimeContext: the first argument of every kernel - a way to fail and to get scratch
// memory.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Made for one call of a kernel; refers to the tracer and the allocator, both of which may be
/// null.
class KernelRuntimeContext {
 public:
  KernelRuntimeContext(EventTracer* event_tracer = nullptr,
                       MemoryAllocator* temp_allocator = nullptr)
      : event_tracer_(event_tracer), temp_allocator_(temp_allocator) {}

  /// The kernel could not do its work. The last failure counts.
  void fail(Error error) { failure_state_ = error; }
  ET_NODISCARD Error failure_state() const { return failure_state_; }

  /// Whether allocate_temp() has an allocator to ask.
  bool has_temp_allocator() const { return temp_allocator_ != nullptr; }

  /// `size` bytes of scratch memory, valid until the kernel returns. NotFound when there is no
  /// allocator, MemoryAllocationFailed when it has not enough.
  Result<void*> allocate_temp(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    ET_CHECK_OR_RETURN_ERROR(temp_allocator_ != nullptr, NotFound,
                             "no allocator for %zu bytes of scratch memory", size);
    void* const memory = temp_allocator_->allocate(size, alignment);
    ET_CHECK_OR_RETURN_ERROR(memory != nullptr, MemoryAllocationFailed,
                             "no %zu bytes of scratch memory", size);
    return memory;
  }

  /// For the runtime and generated code only.
  EventTracer* internal_event_tracer() { return event_tracer_; }

 private:
  EventTracer* event_tracer_;
  MemoryAllocator* temp_allocator_;
  Error failure_state_ = Error::Ok;
};

}  // namespace ET_RUNTIME_NAMESPACE

namespace aten {
using RuntimeContext = ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
}  // namespace aten
}  // namespace executorch

namespace torch {
namespace executor {
using RuntimeContext = ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
}  // namespace executor
}  // namespace torch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::KernelRuntimeContext;
}  // namespace torch::executor
