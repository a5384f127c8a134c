// SPDX-License-Identifier: BSD-3-Clause
// MemoryAllocator: hands out pieces of one region, front to back. Users may derive their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/profiler.h>

namespace executorch {
namespace runtime {

/// Does not own the region, which must outlive the allocator and everything allocated. Single
/// pieces are never given back; reset() gives back all of them. Not thread-safe.
class MemoryAllocator {
 public:
  /// Alignment of a piece when none is asked for.
  static constexpr size_t kDefaultAlignment = alignof(void*);

  /// `size` bytes from `base_address` on; they must exist.
  MemoryAllocator(uint32_t size, uint8_t* base_address)
      : begin_(base_address), size_(size), used_(0) {
    ET_CHECK_MSG(base_address != nullptr || size == 0, "no memory for an allocator of %" PRIu32,
                 size);
    ET_CHECK_MSG(reinterpret_cast<uintptr_t>(base_address) <= UINTPTR_MAX - size,
                 "%" PRIu32 " bytes from %p on exceed the address space", size,
                 static_cast<void*>(base_address));
  }
  virtual ~MemoryAllocator() = default;

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

  /// Has allocations recorded under `name`, where the former profiler is compiled in.
  void enable_profiling(ET_UNUSED const char* name) {
    prof_id_ = static_cast<int32_t>(EXECUTORCH_TRACK_ALLOCATOR(name));
  }

  static constexpr bool isPowerOf2(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
  }

 protected:
  /// For EXECUTORCH_TRACK_ALLOCATION; -1 before enable_profiling().
  int32_t prof_id() const { return prof_id_; }

  /// The first multiple of `alignment`, a power of two, that is not below `ptr`.
  static uint8_t* alignPointer(void* ptr, size_t alignment) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(ptr);
    return reinterpret_cast<uint8_t*>((address + alignment - 1) &
                                      ~static_cast<uintptr_t>(alignment - 1));
  }

 private:
  uint8_t* begin_;
  uint32_t size_;
  int32_t prof_id_ = -1;
  size_t used_;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::MemoryAllocator;
}  // namespace torch::executor
