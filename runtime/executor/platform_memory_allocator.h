// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory from the platform's heap, for methods that are not given a temporary allocator.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::runtime::internal {

// Each allocation is one of et_pal_allocate(); reset() and the destructor free all of them.
class PlatformMemoryAllocator final : public MemoryAllocator {
 public:
  PlatformMemoryAllocator() : MemoryAllocator(0, nullptr) {}
  ~PlatformMemoryAllocator() override { free_all(); }

  PlatformMemoryAllocator(const PlatformMemoryAllocator&) = delete;
  PlatformMemoryAllocator& operator=(const PlatformMemoryAllocator&) = delete;

  // Null if the alignment is no power of two, the size is out of range or the platform has no
  // memory.
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      ET_LOG(Error, "Alignment %zu is not a power of two", alignment);
      return nullptr;
    }
    const size_t extra = sizeof(Node) + alignment - 1;
    Node* node = size > SIZE_MAX - extra ? nullptr : static_cast<Node*>(pal_allocate(size + extra));
    if (node == nullptr) {
      ET_LOG(Error, "Memory allocation failed: %zuB of scratch memory requested", size);
      return nullptr;
    }
    node->next = head_;
    head_ = node;
    const uintptr_t first = reinterpret_cast<uintptr_t>(node) + extra;
    return reinterpret_cast<void*>(first & ~static_cast<uintptr_t>(alignment - 1));
  }

  void reset() override { free_all(); }

 private:
  struct Node {
    Node* next;
  };

  void free_all() {
    while (head_ != nullptr) {
      Node* node = head_;
      head_ = node->next;
      pal_free(node);
    }
  }

  Node* head_ = nullptr;
};

}  // namespace executorch::runtime::internal
