// SPDX-License-Identifier: BSD-3-Clause
// A MemoryAllocator for temporary memory: reset() keeps blocks for the next allocation of the same
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::extension {

constexpr size_t kCachingAllocatorDefaultAlignment = 64;

template <typename T, unsigned N>
using SmallVector = std::vector<T>;

template <typename KeyType, typename ValueType>
using FlatHashMap = std::unordered_map<KeyType, ValueType>;

// Threads: allocate() and reset() may be called from any thread; reset() takes back every block,
// whoever asked for it.
class CPUCachingAllocator : public ::executorch::runtime::MemoryAllocator {
 public:
  // max_size: bytes kept for reuse at most. A reset() that finds more held frees all.
  explicit CPUCachingAllocator(uint32_t max_size);

  CPUCachingAllocator(const CPUCachingAllocator&) = delete;
  CPUCachingAllocator(CPUCachingAllocator&&) = delete;
  CPUCachingAllocator& operator=(const CPUCachingAllocator&) = delete;
  CPUCachingAllocator& operator=(CPUCachingAllocator&&) = delete;

  ~CPUCachingAllocator() override;

  // nullptr if the alignment is not a power of two or there is no memory. Blocks are aligned to
  // kCachingAllocatorDefaultAlignment at least.
  void* allocate(size_t size, size_t alignment = kCachingAllocatorDefaultAlignment) override;

  // All blocks handed out since the last reset() may be handed out again.
  void reset() override;

 private:
  struct Block {
    void* data;
    size_t size;
    size_t alignment;
  };

  static void free_block(const Block& block);
  void free_cached();

  std::mutex mutex_;
  const size_t max_size_;
  size_t held_size_ = 0;                            // in use and cached
  FlatHashMap<size_t, std::vector<Block>> cached_;  // by size
  std::vector<Block> used_;
};

}  // namespace executorch::extension
