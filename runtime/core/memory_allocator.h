// SPDX-License-Identifier: BSD-3-Clause
// MemoryAllocator: hands out pieces of one block, and never takes single ones back.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/profiler.h>

#include <cstddef>
#include <cstdint>

namespace executorch {
namespace runtime {

/// Does not own the block. Not thread-safe. Subclasses may take memory from elsewhere (see MallocMemoryAllocator).
class MemoryAllocator {
 public:
  static constexpr size_t kDefaultAlignment = alignof(void*);

  MemoryAllocator(uint32_t size, uint8_t* base_address)
      : begin_(base_address),
        cur_(base_address),
        size_(size) {}

  virtual ~MemoryAllocator() = default;

  /// `size` bytes at an address that is a multiple of `alignment` (a power of two), or null with a logged reason.
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment) {
    if (ET_UNLIKELY(alignment == 0 || (alignment & (alignment - 1)) != 0)) {
      ET_LOG(Error, "expected an alignment that is a power of two, got %zu", alignment);
      return nullptr;
    }
    const size_t misplaced = reinterpret_cast<uintptr_t>(cur_) & (alignment - 1);
    const size_t padding = misplaced == 0 ? 0 : alignment - misplaced;
    const size_t available = free_size();
    if (ET_UNLIKELY(padding > available || size > available - padding)) {
      ET_LOG(
          Error,
          "Memory allocation failed: %zuB requested (adjusted for alignment), %zuB available",
          size + (size <= SIZE_MAX - padding ? padding : 0),
          available);
      return nullptr;
    }
    uint8_t* const start = cur_ + padding;
    cur_ = start + size;
    return start;
  }

  /// Room for one T, not constructed.
  template <typename T>
  T* allocateInstance(size_t alignment = alignof(T)) {
    return static_cast<T*>(allocate(sizeof(T), alignment));
  }

  /// Room for `size` Ts, not constructed; null also when the byte count overflows.
  template <typename T>
  T* allocateList(size_t size, size_t alignment = alignof(T)) {
    size_t bytes = 0;
    if (ET_UNLIKELY(__builtin_mul_overflow(size, sizeof(T), &bytes))) {
      ET_LOG(Error, "size overflow: %zu elements of %zu bytes", size, sizeof(T));
      return nullptr;
    }
    return static_cast<T*>(allocate(bytes, alignment));
  }

  virtual uint8_t* base_address() const {
    return begin_;
  }
  virtual uint32_t size() const {
    return size_;
  }
  virtual size_t used_size() const {
    return static_cast<size_t>(cur_ - begin_);
  }
  virtual size_t free_size() const {
    return size_ - used_size();
  }

  /// Makes the whole block available again; everything handed out becomes invalid.
  virtual void reset() {
    cur_ = begin_;
  }

  void enable_profiling(ET_UNUSED const char* name) {
    prof_id_ = EXECUTORCH_TRACK_ALLOCATOR(name);
  }

 protected:
  int32_t prof_id() const {
    return prof_id_;
  }

  static bool isPowerOf2(size_t value) {
    return value > 0 && (value & (value - 1)) == 0;
  }

  /// The first address >= `ptr` that is a multiple of `alignment`.
  static uint8_t* alignPointer(void* ptr, size_t alignment) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(ptr);
    return static_cast<uint8_t*>(ptr) + ((alignment - (address & (alignment - 1))) & (alignment - 1));
  }

 private:
  uint8_t* begin_;
  uint8_t* cur_;
  uint32_t const size_;
  int32_t prof_id_ = -1;
};

} // namespace runtime
} // namespace executorch
