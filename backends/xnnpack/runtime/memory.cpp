// SPDX-License-Identifier: BSD-3-Clause
// Before each block is a header with its size; large blocks are mapped where that can be done.
#include <executorch/backends/xnnpack/runtime/memory.h>

#include <algorithm>
#include <cstring>
#include <new>

#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace executorch::backends::xnnpack {

namespace {

/// What is smaller is left to the heap.
constexpr size_t kMapped = size_t{1} << 15;
constexpr size_t kHeapAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

struct alignas(kHeapAlignment) Header {
  size_t size;      // of the memory that the block is a part of
  uint32_t offset;  // of the block in it
  bool is_mapped;

  uint8_t* memory() { return reinterpret_cast<uint8_t*>(this + 1) - offset; }
};
/// What a block needs beside its own size, wherever its memory begins.
constexpr size_t kRoom = sizeof(Header) + kBlockAlignment - kHeapAlignment;

void* map(size_t size) {
#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES)
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
#else
  static_cast<void>(size);
  return nullptr;
#endif
}

void unmap(void* pages, size_t size) {
#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES)
  static_cast<void>(::munmap(pages, size));
#else
  static_cast<void>(pages);
  static_cast<void>(size);
#endif
}

Header* header_of(void* block) {
  return static_cast<Header*>(block) - 1;
}

void* reallocate(void*, void* block, size_t size) {
  void* larger = allocate_block(size);
  if (larger != nullptr && block != nullptr) {
    const Header& header = *header_of(block);
    std::memcpy(larger, block, std::min(size, header.size - header.offset));
    free_block(block);
  }
  return larger;
}

}  // namespace

void* allocate_block(size_t size) {
  if (size > SIZE_MAX - kRoom) {
    return nullptr;
  }
  const size_t total = size + kRoom;
  void* memory = total >= kMapped ? map(total) : nullptr;
  const bool is_mapped = memory != nullptr;
  if (!is_mapped) {
    memory = ::operator new(total, std::nothrow);
  }
  if (memory == nullptr) {
    return nullptr;
  }
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t block =
      (begin + sizeof(Header) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  auto* const header = reinterpret_cast<Header*>(block) - 1;
  return new (header) Header{total, static_cast<uint32_t>(block - begin), is_mapped} + 1;
}

void free_block(void* block) {
  if (block == nullptr) {
    return;
  }
  Header* const header = header_of(block);
  if (header->is_mapped) {
    unmap(header->memory(), header->size);
  } else {
    ::operator delete(header->memory());
  }
}

void forget_block(void* block) {
#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES) && defined(MADV_DONTNEED)
  if (block == nullptr || !header_of(block)->is_mapped) {
    return;
  }
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  Header* const header = header_of(block);  // keeps its page
  if (header->size > page) {
    static_cast<void>(::madvise(header->memory() + page, header->size - page, MADV_DONTNEED));
  }
#else
  static_cast<void>(block);
#endif
}

const xnn_allocator* block_allocator() {
  static const xnn_allocator allocator = [] {
    xnn_allocator made{};
    made.allocate = [](void*, size_t size) { return allocate_block(size); };
    made.reallocate = reallocate;
    made.deallocate = [](void*, void* block) { free_block(block); };
    made.aligned_allocate = [](void*, size_t alignment, size_t size) {
      return alignment > kBlockAlignment ? nullptr : allocate_block(size);
    };
    made.aligned_deallocate = [](void*, void* block) { free_block(block); };
    return made;
  }();
  return &allocator;
}

}  // namespace executorch::backends::xnnpack
