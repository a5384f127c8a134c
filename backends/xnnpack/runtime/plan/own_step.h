// SPDX-License-Identifier: BSD-3-Clause
// A step of a plan that a kernel of ours computes instead of XNNPACK: one row for each kernel.
#pragma once

#include <executorch/backends/xnnpack/runtime/graph.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <functional>
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
  /// Whether it computes a node as well that stands behind `before`, its own or one that follows.
  bool (*follows)(const Graph& graph, const GraphNode& before, const GraphNode& node);
  /// Whether it runs before its weights are packed, with the same numbers.
  bool runs_unpacked;
  /// Of a segment: the layer, and those that follow.
  std::unique_ptr<OwnStep> (*make)(const Definitions& definitions, const Segment& segment);
  /// For one that needs nodes behind its own: whether [begin, end) has them, and what computes the
  /// node where it has not.
  bool (*is_complete)(const Graph& graph, size_t begin, size_t end) = nullptr;
  const OwnKind* otherwise = nullptr;
  /// Nodes before [begin, end), by place, whose work it does as it reads. `writer` gives the place
  /// of the node that writes a value for one reader alone, or the number of nodes.
  std::vector<size_t> (*views)(const Graph& graph, size_t begin, size_t end,
                               const std::function<size_t(uint32_t value)>& writer) = nullptr;
};

/// The first row that suits a node; null for one that is XNNPACK's.
const OwnKind* own_kind_of(const Graph& graph, const GraphNode& node, const OwnChoice& choice);

}  // namespace executorch::backends::xnnpack
