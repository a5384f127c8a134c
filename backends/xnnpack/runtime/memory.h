// SPDX-License-Identifier: BSD-3-Clause
// Memory of XNNPACK: large blocks go back to the system when they are freed, instead of staying in
// the heap of a process that has unloaded its model.
#pragma once

#include <xnnpack.h>

#include <cstddef>

// Pages take memory when they are written, and may be given back. In WebAssembly what is mapped is
// the heap's at once, and parts are not given back.
#if __has_include(<sys/mman.h>) && !defined(__EMSCRIPTEN__)
#define EXECUTORCH_XNNPACK_MAPS_PAGES
#endif

namespace executorch::backends::xnnpack {

/// Alignment of every block: a cache line, the most that XNNPACK asks for on the processors of
/// xnnpack.cmake.
constexpr size_t kBlockAlignment = 64;

/// Null when there is no memory. Any thread.
void* allocate_block(size_t size);
/// Null has no effect.
void free_block(void* block);

/// A block that is null or not in memory of its own stays as it is; of others the pages go
/// back to the system, and what they held is lost. They come again as they are written.
void forget_block(void* block);

/// The same for xnn_initialize(); lives as long as the process.
const xnn_allocator* block_allocator();

}  // namespace executorch::backends::xnnpack
