// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of the same few quantized rows: the projections of an attention, a gate and what it
// opens for. Threads go from the weights of one to those of the next without waiting for each
// other, and memory never rests.
#pragma once

#include "xnnpack/subgraph.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// How many operators from `index` on are such layers of one input; 0 for fewer than two. After all
/// have their sizes.
size_t parallel_layers_at(const xnn_runtime& runtime, size_t index);

xnn_status run_parallel_layers(const xnn_runtime& runtime, size_t index, size_t count);

}  // namespace executorch::backends::xnnpack
