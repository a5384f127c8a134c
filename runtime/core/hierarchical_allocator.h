// SPDX-License-Identifier: BSD-3-Clause
// HierarchicalAllocator: the planned arenas of a method.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>

namespace executorch {
namespace runtime {

/// Turns (arena, offset) of the file into addresses. Does not own the arenas, nor the spans that name them.
class HierarchicalAllocator final {
 public:
  /// `buffers[k]` is planned arena k.
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers_(buffers) {}

  /// As above; `planned_buffer_devices[k]` tells where arena k lies.
  HierarchicalAllocator(
      Span<Span<uint8_t>> buffers, Span<const etensor::Device> planned_buffer_devices)
      : buffers_(buffers), devices_(planned_buffer_devices) {}

  /// The memory of up to 16 allocators; use the Span constructor.
  ET_DEPRECATED HierarchicalAllocator(uint32_t n_allocators, MemoryAllocator* allocators);

  HierarchicalAllocator(const HierarchicalAllocator&) = delete;
  HierarchicalAllocator& operator=(const HierarchicalAllocator&) = delete;
  HierarchicalAllocator(HierarchicalAllocator&&) = delete;
  HierarchicalAllocator& operator=(HierarchicalAllocator&&) = delete;

  /// Address of bytes [offset_bytes, offset_bytes + size_bytes) of arena `memory_id`.
  /// InvalidArgument: no such arena, or the range overflows. MemoryAllocationFailed: the range leaves the arena.
  ET_NODISCARD Result<void*> get_offset_address(
      uint32_t memory_id, size_t offset_bytes, size_t size_bytes);

  /// The arenas, for zeroing at Method load.
  Span<Span<uint8_t>> buffers() const {
    return buffers_;
  }

  Span<const etensor::Device> planned_buffer_devices() const {
    return devices_;
  }

 private:
  static constexpr size_t kSpanArraySize = 16;
  Span<uint8_t> span_array_[kSpanArraySize]; // used by the deprecated constructor only
  Span<Span<uint8_t>> buffers_;
  Span<const etensor::Device> devices_;
};

} // namespace runtime
} // namespace executorch
