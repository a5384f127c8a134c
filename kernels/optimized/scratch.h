// SPDX-License-Identifier: BSD-3-Clause
// Memory of a kernel for the time of one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// Room for `count` values at an address that is a multiple of 64, from the context's temporary
// allocator; null when that has too little.
template <typename T>
T* scratch(runtime::KernelRuntimeContext& ctx, int64_t count) {
  auto memory = ctx.allocate_temp(static_cast<size_t>(count) * sizeof(T), 64);
  return memory.ok() ? static_cast<T*>(memory.get()) : nullptr;
}

}  // namespace executorch::kernels::optimized
