// SPDX-License-Identifier: BSD-3-Clause
// What the parts of loading a method share: sizes of absent vectors and room for arrays. Internal
// to the executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/schema/program_generated.h>

namespace executorch::runtime::internal {

// The size of a vector that a file may leave out.
template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Room for `size` elements; never an empty request, which some allocators answer with null.
template <typename T>
Error allocate(MemoryAllocator* allocator, size_t size, T** out) {
  *out = allocator->allocateList<T>(size == 0 ? 1 : size);
  return *out == nullptr ? Error::MemoryAllocationFailed : Error::Ok;
}

}  // namespace executorch::runtime::internal
