// SPDX-License-Identifier: BSD-3-Clause
// What runs as one, and in which order: a plan is a list of segments, each a part of the graph's
// nodes that becomes one runtime of XNNPACK's, or that a kernel of ours computes.
#pragma once

#include <executorch/backends/xnnpack/runtime/graph.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

struct OwnKind;  // own_step.h

struct SegmentArgument {
  uint32_t value;
  bool is_output;
};

/// Nodes [begin, end) of a graph. Its arguments, by place, are values of the delegate's arguments,
/// or ones that lie between segments.
struct Segment {
  size_t begin = 0;
  size_t end = 0;
  std::vector<SegmentArgument> arguments;
  const OwnKind* own = nullptr;    // of a node, and of those that follow it; or XNNPACK's
  bool is_view = false;            // of a node whose output is its input's memory
  std::vector<size_t> views = {};  // nodes, by place, of which `own` does the work as it reads
};

/// All nodes as one segment, whose arguments are the delegate's in their order.
Segment whole_graph(const Graph& graph);

/// Segments of about `max_nodes` needed nodes, 0 for all, between nodes with a kernel of ours,
/// which `own` has by place (null: none); `graph`'s byte tables are made. Such a kernel computes
/// nodes that follow its own, too, as far as what lies between is for them alone, and may read what
/// nodes before it would have moved: these are views. A segment is longer where the values at its
/// end have no type that memory between segments has, or would be rounded.
std::vector<Segment> cut_into_segments(const Graph& graph, const std::vector<const OwnKind*>& own,
                                       size_t max_nodes);

/// Calls `act` with each value that a needed node reads while it runs or when it is packed.
template <typename Act>
void for_each_read(const GraphNode& node, Act act) {
  if (node.table != nullptr) {
    act(node.table->input);
    return;
  }
  for (size_t i = 0; i < node.operands.num_inputs; ++i) {
    act(node.operands.inputs[i]);
  }
}

}  // namespace executorch::backends::xnnpack
