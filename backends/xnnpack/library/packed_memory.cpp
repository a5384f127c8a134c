// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its function that asks for memory to pack into: that one
// writes all of it twice.
#include "xnnpack/allocator.h"
#include "xnnpack/operator.h"

#include <cstring>

extern "C" {
#include "xnnpack/operator-utils.h"  // says that it is C of a part of itself

/// Memory of `size` bytes, all `padding`; null without memory. Of a cache it is zero as it comes:
/// new pages are.
void* xnn_get_pointer_to_write_weights(xnn_operator_t op, size_t size, int padding) {
  void* memory = nullptr;
  if (use_weights_cache(op)) {
    memory = op->weights_cache->reserve_space(op->weights_cache->context, size);
    if (padding == 0) {
      return memory;
    }
  } else {
    memory = op->packed_weights.pointer = xnn_allocate_simd_memory(size);
  }
  return memory == nullptr ? nullptr : std::memset(memory, padding, size);
}

}  // extern "C"
