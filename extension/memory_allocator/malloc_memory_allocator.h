// SPDX-License-Identifier: BSD-3-Clause
// A MemoryAllocator that takes each block from malloc() and frees all of them at reset() or
// destruction.
#pragma once

#include <cstdlib>
#include <vector>

#include <executorch/extension/memory_allocator/memory_allocator_utils.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::extension {

// Grows as needed; size() and base_address() mean nothing here. Not for use by several threads at
// the same time.
class MallocMemoryAllocator : public ::executorch::runtime::MemoryAllocator {
 public:
  MallocMemoryAllocator() : MemoryAllocator(0, nullptr) {}

  MallocMemoryAllocator(const MallocMemoryAllocator&) = delete;
  MallocMemoryAllocator& operator=(const MallocMemoryAllocator&) = delete;

  ~MallocMemoryAllocator() override { reset(); }

  // nullptr if the alignment is not a power of two or there is no memory.
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    const auto total = utils::get_aligned_size(size, alignment);
    if (!total.ok()) {
      return nullptr;
    }
    void* block = std::malloc(total.get());
    if (block == nullptr) {
      return nullptr;
    }
    blocks_.push_back(block);
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(block) + alignment - 1) &
                                   ~(alignment - 1));
  }

  // Frees everything allocated so far.
  void reset() override {
    for (void* block : blocks_) {
      std::free(block);
    }
    blocks_.clear();
  }

 private:
  std::vector<void*> blocks_;
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::MallocMemoryAllocator;
}  // namespace torch::executor::util
