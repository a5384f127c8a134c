// SPDX-License-Identifier: BSD-3-Clause
// Checked addressing of planned arenas.
#include <executorch/runtime/core/hierarchical_allocator.h>

namespace executorch {
namespace runtime {

HierarchicalAllocator::HierarchicalAllocator(uint32_t n_allocators, MemoryAllocator* allocators) {
  ET_CHECK_MSG(
      n_allocators <= kSpanArraySize, "%u allocators, at most %zu", n_allocators, kSpanArraySize);
  for (uint32_t i = 0; i < n_allocators; ++i) {
    span_array_[i] = Span<uint8_t>(allocators[i].base_address(), size_t{allocators[i].size()});
  }
  buffers_ = Span<Span<uint8_t>>(span_array_, size_t{n_allocators});
}

Result<void*> HierarchicalAllocator::get_offset_address(
    uint32_t memory_id, size_t offset_bytes, size_t size_bytes) {
  ET_CHECK_OR_RETURN_ERROR(
      memory_id < buffers_.size(),
      InvalidArgument,
      "planned buffer %" PRIu32 ": only %zu were given",
      memory_id,
      buffers_.size());
  const Span<uint8_t> buffer = buffers_[memory_id];
  size_t end = 0;
  ET_CHECK_OR_RETURN_ERROR(
      !__builtin_add_overflow(offset_bytes, size_bytes, &end),
      InvalidArgument,
      "planned buffer %" PRIu32 ": offset %zu + size %zu overflows",
      memory_id,
      offset_bytes,
      size_bytes);
  ET_CHECK_OR_RETURN_ERROR(
      end <= buffer.size(),
      MemoryAllocationFailed,
      "planned buffer %" PRIu32 ": bytes %zu to %zu wanted, it has %zu",
      memory_id,
      offset_bytes,
      end,
      buffer.size());
  return static_cast<void*>(buffer.data() + offset_bytes);
}

} // namespace runtime
} // namespace executorch
