// SPDX-License-Identifier: BSD-3-Clause
// Weights are packed by all threads of the pool: each node becomes a graph of its own for as long
// as it takes to pack. The delegate's runtime, made by one thread, then finds them packed.
#pragma once

#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>

#include <pthreadpool.h>

#include <memory>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack {

/// A node with weights, and those weights once a thread of the pool has packed them.
struct Packing {
  const GraphNode* node;
  bool is_xnnpacks;  // packed by it
  Fingerprint::Value fingerprint;
  std::unique_ptr<PackedWeights> weights;
};

/// The addresses of a node's filter and bias, the latter null for none.
std::pair<const void*, const void*> source_of(const Definitions& definitions,
                                              const GraphNode& node);

/// Describes to `weights` what the nodes pack. Several nodes of `large_from` bytes or more are
/// packed here, each by a thread of `pool`; XNNPACK packs the rest as it makes a runtime.
void pack(const Definitions& definitions, std::vector<Packing>& packings, PackedWeights& weights,
          pthreadpool_t pool, size_t large_from);

}  // namespace executorch::backends::xnnpack
