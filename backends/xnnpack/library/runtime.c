// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK's runtime, but for three things: it wrote zeros to all of its workspace, by one thread,
// before the kernels that write there; it did not say where that is; and it runs one operator after
// another (product_lines.h).
#ifndef __MACH__
#define _POSIX_C_SOURCE 199309L  // as it has it: for its clock
#endif
#include <executorch/backends/xnnpack/library/product_lines.h>

#include "xnnpack/allocator.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

static inline void* allocate_workspace(size_t size) {
  const bool is_state = size == sizeof(struct xnn_workspace);
  return is_state ? xnn_allocate_zero_simd_memory(size) : xnn_allocate_simd_memory(size);
}

#define xnn_allocate_zero_simd_memory allocate_workspace
#define xnn_plan_value_allocation_tracker(tracker) xnn_plan_product_lines(runtime, tracker)
#define xnn_run_operator_with_index(op, index, place, pool) \
  xnn_run_product_lines(runtime, index, place)
#define xnn_reshape_runtime xnn_reshape_runtime_any
#include "src/runtime.c"
#undef xnn_reshape_runtime

void* xnn_get_workspace_data(xnn_workspace_t workspace) {
  return workspace->data;
}

/// Room for lines depends on more than the sizes of values, so it is planned anew.
enum xnn_status xnn_reshape_runtime(xnn_runtime_t runtime) {
  runtime->memory_planned = false;
  return xnn_reshape_runtime_any(runtime);
}
