// SPDX-License-Identifier: BSD-3-Clause
// HierarchicalAllocator: the memory-planned buffers ("arenas") of a method, addressed by (buffer,
// offset).
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Does not own the buffers, nor the array that lists them; both must outlive it.
class HierarchicalAllocator final {
 public:
  /// One buffer per memory id, in the order of MethodMeta::memory_planned_buffer_size().
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers_(buffers) {}

  /// As above; `planned_buffer_devices` tells on which device each buffer lies.
  HierarchicalAllocator(Span<Span<uint8_t>> buffers,
                        Span<const etensor::Device> planned_buffer_devices)
      : buffers_(buffers), planned_buffer_devices_(planned_buffer_devices) {
    ET_CHECK_MSG(planned_buffer_devices.size() == buffers.size(), "%zu devices of %zu buffers",
                 planned_buffer_devices.size(), buffers.size());
  }

  /// The regions of at most 16 allocators, which must be unused.
  ET_DEPRECATED HierarchicalAllocator(uint32_t n_allocators, MemoryAllocator* allocators)
      : buffers_(to_spans(n_allocators, allocators)) {}

  HierarchicalAllocator(const HierarchicalAllocator&) = delete;
  HierarchicalAllocator& operator=(const HierarchicalAllocator&) = delete;

  /// The address of `size_bytes` bytes at `offset_bytes` of buffer `memory_id`. InvalidArgument
  /// when there is no such buffer, MemoryAllocationFailed when the bytes do not lie within it.
  ET_NODISCARD Result<void*> get_offset_address(uint32_t memory_id, size_t offset_bytes,
                                                size_t size_bytes) {
    ET_CHECK_OR_RETURN_ERROR(memory_id < buffers_.size(), InvalidArgument,
                             "planned buffer %" PRIu32 " of %zu", memory_id, buffers_.size());
    ET_CHECK_OR_RETURN_ERROR(offset_bytes <= SIZE_MAX - size_bytes, InvalidArgument,
                             "%zu bytes at offset %zu exceed the address space", size_bytes,
                             offset_bytes);
    const Span<uint8_t> buffer = buffers_[memory_id];
    ET_CHECK_OR_RETURN_ERROR(
        offset_bytes <= buffer.size() && size_bytes <= buffer.size() - offset_bytes,
        MemoryAllocationFailed,
        "%zu bytes at offset %zu exceed planned buffer %" PRIu32 " of %zu bytes", size_bytes,
        offset_bytes, memory_id, buffer.size());
    return static_cast<void*>(buffer.data() + offset_bytes);
  }

  /// Says that all buffers are zero as they come (calloc, new pages) and serve one Method: it will
  /// not clear them, which would make pages resident that no tensor writes.
  void mark_zeroed() { is_zeroed_ = true; }
  bool is_zeroed() const { return is_zeroed_; }

  /// The device of each buffer; empty when all are on the CPU.
  Span<const etensor::Device> planned_buffer_devices() const { return planned_buffer_devices_; }

 private:
  static constexpr size_t kSpanArraySize = 16;

  Span<Span<uint8_t>> to_spans(uint32_t n_allocators, MemoryAllocator* allocators) {
    ET_CHECK_MSG(n_allocators <= kSpanArraySize, "%" PRIu32 " allocators, at most %zu",
                 n_allocators, kSpanArraySize);
    for (uint32_t i = 0; i < n_allocators; ++i) {
      span_array_[i] = Span<uint8_t>(allocators[i].base_address(), allocators[i].size());
    }
    return {span_array_, n_allocators};
  }

  // Used by the deprecated constructor only.
  Span<uint8_t> span_array_[kSpanArraySize];
  Span<Span<uint8_t>> buffers_;
  Span<const etensor::Device> planned_buffer_devices_;
  bool is_zeroed_ = false;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::HierarchicalAllocator;
}  // namespace torch::executor
