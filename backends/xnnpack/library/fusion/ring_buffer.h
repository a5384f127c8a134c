// SPDX-License-Identifier: BSD-3-Clause
// A GEMM (a pointwise convolution, say) whose only consumer is a depthwise convolution: the first
// half of an inverted bottleneck, with several times the channels of what comes before. XNNPACK
// writes all of the GEMM's result and then reads it; here each thread keeps a ring buffer of the
// rows that its next row of outputs reads. A GEMM that alone reads those outputs, the second half,
// takes each row as it comes. So all of these stay in the core's own cache.
#pragma once

#include "xnnpack/memory-planner.h"
#include "xnnpack/subgraph.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// How many operators from `index` on run by ring buffers: two, or three with the next GEMM; 0 for
/// none. After all have their sizes.
size_t ring_buffers_at(const xnn_runtime& runtime, size_t index);

/// Gives such results room for their ring buffers only, and keeps what all steps use for as long as
/// they take.
void plan_ring_buffers(const xnn_runtime& runtime, size_t index, size_t count,
                       xnn_value_allocation_tracker& tracker);

xnn_status run_ring_buffers(const xnn_runtime& runtime, size_t index, size_t count);

}  // namespace executorch::backends::xnnpack
