// SPDX-License-Identifier: BSD-3-Clause
// MemoryAllocator: hands out pieces of one region, front to back. Users may derive their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Does not own the region, which must outlive the allocator and everything allocated. Single
/// pieces are never given back; reset() gives back all of them. Not thread-safe.
class MemoryAllocator {
 public:
  /// Alignment of a piece when none is asked for.
  static constexpr size_t kDefaultAlignment = alignof(void*);

  /// `size` bytes from `base_address` on.
  MemoryAllocator(uint32_t size, uint8_t* base_address)
      : begin_(base_address), size_(size), used_(0) {}
  virtual ~MemoryAllocator() = default;
  MemoryAllocator(const MemoryAllocator&) = delete;
  MemoryAllocator& operator=(const MemoryAllocator&) = delete;

  /// `size` bytes aligned to `alignment`, a power of two; null, with a message, when they do not
  /// fit.
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment);

  /// Memory for one T, not constructed; null when it does not fit.
  template <typename T>
  T* allocateInstance(size_t alignment = alignof(T)) {
    return static_cast<T*>(allocate(sizeof(T), alignment));
  }

  /// Memory for `size` elements, not constructed; null when they do not fit or their bytes exceed
  /// size_t.
  template <typename T>
  T* allocateList(size_t size, size_t alignment = alignof(T)) {
    if (size > SIZE_MAX / sizeof(T)) {
      ET_LOG(Error, "list of %zu elements of %zu bytes exceeds the address space", size, sizeof(T));
      return nullptr;
    }
    return static_cast<T*>(allocate(size * sizeof(T), alignment));
  }

  virtual uint8_t* base_address() const { return begin_; }
  /// Bytes of the region.
  virtual uint32_t size() const { return size_; }
  /// Bytes handed out, paddings included.
  virtual size_t used_size() const { return used_; }
  virtual size_t free_size() const { return size_ - used_; }
  /// Forgets all pieces.
  virtual void reset() { used_ = 0; }

  /// Kept for callers of the former profiler; no effect.
  void enable_profiling(ET_UNUSED const char* name) {}

  static constexpr bool isPowerOf2(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
  }

 private:
  uint8_t* const begin_;
  const uint32_t size_;
  size_t used_;
};

}  // namespace runtime
}  // namespace executorch
