// SPDX-License-Identifier: BSD-3-Clause
// The memory a Method is given: who allocates its structures, where its tensors live, where kernels
// find scratch space.
#pragma once

#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {

// Groups borrowed allocators; owns none of them. All of them must outlive every Method loaded with
// this manager, and one manager must not be used by two Methods that run at the same time.
class MemoryManager final {
 public:
  // method_allocator: structures of the Method (values, instructions), used while loading. Never
  // reset it while the
  //   Method lives.
  // planned_memory: one buffer per memory-planned buffer of the method
  // (MethodMeta::memory_planned_buffer_size). May be
  //   null when the method has none.
  // temp_allocator: scratch space of kernels and delegates, reset after every instruction; must not
  // be the method
  //   allocator. Null: the Method takes scratch space from the platform's heap (et_pal_allocate).
  explicit MemoryManager(MemoryAllocator* method_allocator,
                         HierarchicalAllocator* planned_memory = nullptr,
                         MemoryAllocator* temp_allocator = nullptr)
      : method_allocator_(method_allocator),
        planned_memory_(planned_memory),
        temp_allocator_(temp_allocator) {
    ET_CHECK_MSG(method_allocator == nullptr || method_allocator != temp_allocator,
                 "the method allocator is never reset: give another one for scratch space");
  }

  // The older argument order; constant_allocator is not used.
  ET_DEPRECATED MemoryManager(MemoryAllocator* /*constant_allocator*/,
                              HierarchicalAllocator* non_constant_allocator,
                              MemoryAllocator* runtime_allocator,
                              MemoryAllocator* temporary_allocator)
      : MemoryManager(runtime_allocator, non_constant_allocator, temporary_allocator) {}

  MemoryAllocator* method_allocator() const { return method_allocator_; }

  HierarchicalAllocator* planned_memory() const { return planned_memory_; }

  // Null when none was given.
  MemoryAllocator* temp_allocator() const { return temp_allocator_; }

  // Device of each planned buffer; empty when all are on the CPU.
  Span<const etensor::Device> planned_buffer_devices() const {
    return planned_memory_ == nullptr ? Span<const etensor::Device>()
                                      : planned_memory_->planned_buffer_devices();
  }

  // Whether devices of planned buffers are known, be it the CPU.
  bool has_device_memory() const { return planned_buffer_devices().size() > 0; }

 private:
  MemoryAllocator* method_allocator_;
  HierarchicalAllocator* planned_memory_;
  MemoryAllocator* temp_allocator_;
};

}  // namespace executorch::runtime

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::MemoryManager;
}  // namespace torch::executor
