// SPDX-License-Identifier: BSD-3-Clause
// Operators that run as one. XNNPACK runs one after another, each over all of its output; here some
// that follow each other share tiles that stay in a core's own cache (elementwise_group.h). What
// runs so is decided when the workspace is planned. Included from C.
#pragma once

#include "xnnpack/memory-planner.h"
#include "xnnpack/subgraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// In flags of an operator that one ahead of it computes.
#define XNN_FLAG_COMPUTED_AHEAD (UINT32_C(1) << 28)

/// Chooses which operators run as one, and plans the workspace for that. After all have their
/// sizes.
void xnn_plan_fusions(xnn_runtime_t runtime, struct xnn_value_allocation_tracker* tracker);

/// Runs object `place` of operator `index`: of the first that run as one all, of the others none.
enum xnn_status xnn_run_fused(xnn_runtime_t runtime, size_t index, size_t place);

#ifdef __cplusplus
}
#endif
