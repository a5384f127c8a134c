// SPDX-License-Identifier: BSD-3-Clause
// A GEMM (a pointwise convolution, say) whose only consumer is a depthwise convolution: the first
// half of an inverted bottleneck, with several times the channels of what comes before. XNNPACK
// writes all of the GEMM's result and then reads it; here each thread keeps a ring buffer of the
// rows that its next row of outputs reads. A GEMM that alone reads those outputs, the second half,
// takes each row as it comes. So all of these stay in the core's own cache. Included from C.
#pragma once

#include "xnnpack/memory-planner.h"
#include "xnnpack/subgraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Gives such results room for their ring buffers only, and keeps what all steps use for as long as
/// they take; then plans the workspace. After all operators have been given their sizes.
void xnn_plan_ring_buffers(xnn_runtime_t runtime, struct xnn_value_allocation_tracker* tracker);

/// Runs object `place` of operator `index`: of such a GEMM all steps, of its consumer and the next
/// GEMM nothing.
enum xnn_status xnn_run_ring_buffers(xnn_runtime_t runtime, size_t index, size_t place);

#ifdef __cplusplus
}
#endif
