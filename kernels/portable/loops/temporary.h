// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory of a kernel for the time of one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace kernels {

// For kernels that do without as well: null, and nothing logged, where the call has no allocator.
inline void* try_temporary(const OpCall& call, size_t bytes, size_t alignment) {
  if (!call.ctx.has_temp_allocator()) {
    return nullptr;
  }
  const auto memory = call.ctx.allocate_temp(bytes, alignment);
  return memory.ok() ? memory.get() : nullptr;
}

// For kernels that need it: of the call's allocator or, where the call has none, of the platform,
// as a Method without an allocator has it. A program called without scratch memory runs then.
class Temporary {
 public:
  Temporary() = default;
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (owned_ != nullptr) {
      executorch::runtime::pal_free(owned_);
    }
  }

  // Memory for `bytes`, `alignment` a power of two; null when there is none. Called once.
  void* try_allocate(KernelRuntimeContext& ctx, size_t bytes, size_t alignment) {
    if (ctx.has_temp_allocator()) {
      const auto memory = ctx.allocate_temp(bytes, alignment);
      return memory.ok() ? memory.get() : nullptr;
    }
    if (bytes > SIZE_MAX - alignment) {
      return nullptr;
    }
    owned_ = executorch::runtime::pal_allocate(bytes + alignment);
    const auto end = reinterpret_cast<uintptr_t>(owned_) + alignment;
    return owned_ == nullptr ? nullptr : reinterpret_cast<void*>(end - end % alignment);
  }

  // The same; without memory, the call has failed.
  void* allocate(const OpCall& call, size_t bytes, size_t alignment) {
    void* const memory = try_allocate(call.ctx, bytes, alignment);
    ET_KERNEL_CHECK_MSG(call.ctx, memory != nullptr, MemoryAllocationFailed, nullptr,
                        "%s: no temporary memory for %zu bytes", call.op, bytes);
    return memory;
  }

 private:
  void* owned_ = nullptr;
};

}  // namespace kernels
}  // namespace executorch
