// SPDX-License-Identifier: BSD-3-Clause
// A payload's graph once it has been read: the one place where what it means is checked.
#pragma once

#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <array>
#include <memory>
#include <vector>

namespace executorch::backends::xnnpack {

/// What the nodes from a value of bytes to another one do with each byte.
struct ByteTable {
  uint32_t input = 0;
  std::array<uint8_t, 256> bytes = {};
};

struct GraphNode {
  const fb_xnnpack::XNode* node = nullptr;
  const NodeKind* kind = nullptr;
  Operands operands;
  Limits limits;
  /// It leads to an output. XNNPACK drops a node without readers, and aborts when the value that it
  /// reads has no other; so it never gets such nodes.
  bool is_needed = false;
  /// What is defined in the place of the node (preparation/byte_tables.h); may be null.
  std::shared_ptr<const ByteTable> table;
};

/// What nodes do with a value.
struct Uses {
  bool is_read = false;    // while running
  bool is_packed = false;  // when the graph is built
};

/// An argument of the delegate.
struct External {
  uint32_t value = kNoValue;
  bool is_output = false;
  executorch::aten::ScalarType type = executorch::aten::ScalarType::Float;
};

/// A value is an input, a constant, or the output of exactly one node that stands before its
/// readers. Refers to the payload.
struct Graph {
  std::vector<Value> values;        // by id
  std::vector<Uses> uses;           // by id
  Shapes shapes;                    // by id, the largest where they are dynamic
  std::vector<GraphNode> nodes;     // in the order of execution
  std::vector<External> externals;  // by place among the arguments

  bool is_input(uint32_t id) const;
  /// Half precision for the delegate's caller, float32 for nodes.
  bool is_converted(uint32_t id) const;
};

/// With `widens_halves` all values of half precision are computed as float32, and converted where
/// they are arguments. Errors: InvalidProgram for a graph that makes no sense, Internal for nodes
/// out of order, NotImplemented or NotSupported for one that this build cannot run.
runtime::Result<Graph> read_graph(const fb_xnnpack::XNNGraph& payload, bool widens_halves);

/// Sets the shape of the node's output from those of its inputs, `shapes` by id. InvalidProgram
/// when they do not fit the node, or each other.
runtime::Error infer_shape(const GraphNode& node, Shapes& shapes);

}  // namespace executorch::backends::xnnpack
