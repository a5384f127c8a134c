// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operators in a row, and the GEMM or convolution ahead of them: what a layer is
// activated by and added to. XNNPACK writes the result of each and reads it for the next. Here a
// thread computes all of them for its tile while that is in the core's own cache, and threads meet
// once. The same kernels compute the same elements, so results are equal bit for bit.
#pragma once

#include "xnnpack/subgraph.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// How many operators from `index` on are one group; 0 for none. After all have their sizes.
size_t elementwise_group_at(const xnn_runtime& runtime, size_t index);

xnn_status run_elementwise_group(const xnn_runtime& runtime, size_t index, size_t count);

}  // namespace executorch::backends::xnnpack
