// SPDX-License-Identifier: BSD-3-Clause
// Blocks are cached by their exact size: the temporary tensors of a network repeat from run to run.
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>

#include <algorithm>
#include <new>

#include <executorch/extension/memory_allocator/memory_allocator_utils.h>

namespace executorch::extension {

CPUCachingAllocator::CPUCachingAllocator(uint32_t max_size)
    : MemoryAllocator(0, nullptr), max_size_(max_size) {}

CPUCachingAllocator::~CPUCachingAllocator() {
  for (const Block& block : used_) {
    free_block(block);
  }
  free_cached();
}

void CPUCachingAllocator::free_block(const Block& block) {
  ::operator delete(block.data, std::align_val_t(block.alignment));
}

void CPUCachingAllocator::free_cached() {
  for (const auto& [size, blocks] : cached_) {
    for (const Block& block : blocks) {
      free_block(block);
    }
  }
  cached_.clear();
  held_size_ = 0;
}

void* CPUCachingAllocator::allocate(size_t size, size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return nullptr;
  }
  alignment = std::max(alignment, kCachingAllocatorDefaultAlignment);
  if (!utils::get_aligned_size(size, alignment).ok()) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  if (const auto found = cached_.find(size); found != cached_.end()) {
    std::vector<Block>& blocks = found->second;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].alignment >= alignment) {
        used_.push_back(blocks[i]);
        blocks[i] = blocks.back();
        blocks.pop_back();
        return used_.back().data;
      }
    }
  }
  void* data = ::operator new(size, std::align_val_t(alignment), std::nothrow);
  if (data != nullptr) {
    used_.push_back({data, size, alignment});
    held_size_ += size;
  }
  return data;
}

void CPUCachingAllocator::reset() {
  const std::lock_guard<std::mutex> guard(mutex_);
  for (const Block& block : used_) {
    cached_[block.size].push_back(block);
  }
  used_.clear();
  if (held_size_ > max_size_) {
    free_cached();
  }
}

}  // namespace executorch::extension
