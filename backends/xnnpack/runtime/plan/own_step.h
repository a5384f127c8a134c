// SPDX-License-Identifier: BSD-3-Clause
// A step of a plan that a kernel of ours computes instead of XNNPACK: one row for each kernel.
#pragma once

#include <executorch/backends/xnnpack/runtime/graph.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>

#include <memory>

namespace executorch::backends::xnnpack {

/// Used by one thread at a time; computes with those of the process' pool.
class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// For the shapes of the runs that follow, by value id; they have gone through infer_shape().
  virtual void reshape(const Shapes& shapes) = 0;
  /// MemoryAllocationFailed when `scratch` has too little; nothing is kept in it.
  virtual runtime::Error run(const void* input, void* output,
                             runtime::MemoryAllocator& scratch) = 0;
};

/// What kernels of ours a delegate may have.
struct OwnChoice {
  bool winograd = true;
};

struct OwnKind {
  const char* name;  // in events
  fb_xnnpack::XNodeUnion node;
  /// Whether it computes the node, and that pays at the shapes of the graph, the largest.
  bool (*suits)(const Graph& graph, const GraphNode& node, const OwnChoice& choice);
  /// Packs the node's weights, unless `weights` has them packed.
  runtime::Result<std::unique_ptr<OwnStep>> (*make)(const Definitions& definitions,
                                                    const GraphNode& node, PackedWeights& weights,
                                                    runtime::MemoryAllocator& scratch);
};

/// The first row that suits a node; null for one that is XNNPACK's.
const OwnKind* own_kind_of(const Graph& graph, const GraphNode& node, const OwnChoice& choice);

}  // namespace executorch::backends::xnnpack
