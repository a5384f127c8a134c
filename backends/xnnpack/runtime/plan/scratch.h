// SPDX-License-Identifier: BSD-3-Clause
// Memory of our kernels for the time of one call, kept for the next.
#pragma once

#include <executorch/runtime/core/memory_allocator.h>

#include <cstddef>
#include <vector>

namespace executorch::backends::xnnpack {

/// One block, as large as what was needed between two calls of reset(); until it has that size, the
/// rest comes from blocks of its own. One thread at a time.
class Scratch final : public runtime::MemoryAllocator {
 public:
  Scratch() : MemoryAllocator(0, nullptr) {}
  ~Scratch() override;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Null without memory, and for more than a cache line of alignment.
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override;
  void reset() override;
  /// Gives back all of it, too.
  void clear();

 private:
  void free_more();

  void* block_ = nullptr;
  size_t block_size_ = 0;
  size_t needed_ = 0;  // since reset()
  std::vector<void*> more_;
};

}  // namespace executorch::backends::xnnpack
