// SPDX-License-Identifier: BSD-3-Clause
// Allocation from one region, with arithmetic that cannot wrap.
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch {
namespace runtime {

void* MemoryAllocator::allocate(size_t size, size_t alignment) {
  if (!isPowerOf2(alignment)) {
    ET_LOG(Error, "alignment %zu is not a power of two", alignment);
    return nullptr;
  }
  const uintptr_t position = reinterpret_cast<uintptr_t>(begin_) + used_;
  const size_t padding = static_cast<size_t>(-position) & (alignment - 1);
  const size_t available = size_ - used_;
  if (padding > available || size > available - padding) {
    ET_LOG(Error,
           "Memory allocation failed: %zuB requested (adjusted for alignment), %zuB available",
           size > SIZE_MAX - padding ? SIZE_MAX : size + padding, available);
    return nullptr;
  }
  uint8_t* const piece = begin_ + used_ + padding;
  used_ += padding + size;
  EXECUTORCH_TRACK_ALLOCATION(prof_id(), static_cast<uint32_t>(padding + size));
  return piece;
}

}  // namespace runtime
}  // namespace executorch
