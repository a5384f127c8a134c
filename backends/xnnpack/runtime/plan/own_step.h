// SPDX-License-Identifier: BSD-3-Clause
// A step of a plan that a kernel of ours computes instead of XNNPACK: one row for each kernel.
#pragma once

#include <executorch/backends/xnnpack/runtime/graph.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <memory>
#include <vector>

namespace executorch::backends::xnnpack {

/// Of values, by id; null for constants, and for what lies within a step.
using Addresses = std::vector<void*>;

/// Used by one thread at a time; computes with those of the process' pool.
class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// Packs the layer's weights, unless they are, `weights` has them packed, or there are none. The
  /// file's bytes are not read after it.
  virtual runtime::Error pack(const Definitions&, PackedWeights&, runtime::MemoryAllocator&) {
    return runtime::Error::Ok;
  }
  /// For the shapes of the runs that follow, by value id; they have gone through infer_shape().
  virtual runtime::Error reshape(const Shapes& shapes) = 0;
  /// MemoryAllocationFailed when `scratch` has too little; nothing is kept in it.
  virtual runtime::Error run(const Addresses& addresses, runtime::MemoryAllocator& scratch) = 0;
};

/// Nodes that follow a layer in a step, at most: what lies between them is on the stack.
constexpr size_t kMaxFollowing = 8;

/// What kernels of ours a delegate may have.
struct OwnChoice {
  bool any = true;
  bool winograd = true;
  bool bfloat16 = false;  // for matmuls, where the processor has them
};

struct OwnKind {
  const char* name;  // in events
  /// Whether it computes the node, and that pays at the shapes of the graph, the largest.
  bool (*suits)(const Graph& graph, const GraphNode& node, const OwnChoice& choice);
  /// Whether it computes a node behind it as well, of the result of those before.
  bool (*follows)(const Graph& graph, uint32_t result, const GraphNode& node);
  /// Whether it runs before its weights are packed, with the same numbers.
  bool runs_unpacked;
  /// Nodes [begin, end): the layer, and those that follow.
  std::unique_ptr<OwnStep> (*make)(const Definitions& definitions, size_t begin, size_t end);
};

/// The first row that suits a node; null for one that is XNNPACK's.
const OwnKind* own_kind_of(const Graph& graph, const GraphNode& node, const OwnChoice& choice);

}  // namespace executorch::backends::xnnpack
