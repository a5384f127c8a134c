// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK's runtime, but for two things: it wrote zeros to all of its workspace, by one thread, before
// the kernels that write there; and it did not say where that is.
#ifndef __MACH__
#define _POSIX_C_SOURCE 199309L  // as it has it: for its clock
#endif
#include "xnnpack/allocator.h"
#include "xnnpack/subgraph.h"

static inline void* allocate_workspace(size_t size) {
  const bool is_state = size == sizeof(struct xnn_workspace);
  return is_state ? xnn_allocate_zero_simd_memory(size) : xnn_allocate_simd_memory(size);
}

#define xnn_allocate_zero_simd_memory allocate_workspace
#include "src/runtime.c"

void* xnn_get_workspace_data(xnn_workspace_t workspace) {
  return workspace->data;
}
