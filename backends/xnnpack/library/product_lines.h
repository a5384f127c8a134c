// SPDX-License-Identifier: BSD-3-Clause
// A product whose only reader is a depthwise convolution: the first half of a MobileNet's block,
// with six times the channels of what comes before. XNNPACK computes all of the product and then
// reads it; here a thread computes the lines that the next line of outputs looks at, which take the
// place of those that are no longer looked at. A product that alone reads those outputs, the second
// half, takes each line of them as it comes. So all of these take a few lines of memory and stay in
// the core's own cache. Included from C.
#pragma once

#include "xnnpack/memory-planner.h"
#include "xnnpack/subgraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Gives large products room for their lines only, and keeps what all steps use for as long as
/// they take; then plans the workspace. After all operators have been given their sizes.
void xnn_plan_product_lines(xnn_runtime_t runtime, struct xnn_value_allocation_tracker* tracker);

/// Runs object `place` of operator `index`: of such a product all steps, of its reader and the next
/// product nothing.
enum xnn_status xnn_run_product_lines(xnn_runtime_t runtime, size_t index, size_t place);

#ifdef __cplusplus
}
#endif
