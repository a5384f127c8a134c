// SPDX-License-Identifier: BSD-3-Clause
// The steps that XNNPACK runs an operator by: the last one computes tiles of the output, those
// ahead of it pack a matrix or copy an image.
#pragma once

#include "xnnpack/memory-planner.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

namespace executorch::backends::xnnpack {

/// Whether an operator has its sizes.
bool is_ready(const xnn_operator* op);

/// The last step.
compute_parameters& tiles_of(xnn_operator& op);

/// All steps but the last.
xnn_status run_ahead(xnn_operator& op, pthreadpool_t pool);

/// `pool`, or null for an operator that a thread computes before it would have woken another.
pthreadpool_t threads_for(xnn_operator& op, pthreadpool_t pool);

/// The record of the memory that a value of the workspace lies in, maybe that of another value.
xnn_usage_record* memory_of(xnn_value_allocation_tracker& tracker, uint32_t value);

/// Keeps what `count` operators from `index` on read and write for as long as they take together.
void plan_together(const xnn_runtime& runtime, size_t index, size_t count,
                   xnn_value_allocation_tracker& tracker);

}  // namespace executorch::backends::xnnpack
