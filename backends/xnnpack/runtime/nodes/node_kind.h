// SPDX-License-Identifier: BSD-3-Clause
// What the backend knows of a kind of node: one row, in the file of its family.
#pragma once

#include <executorch/backends/xnnpack/runtime/values.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <xnnpack.h>

#include <limits>
#include <vector>

namespace executorch::backends::xnnpack {

/// Values that a node reads and the one it writes, by id.
struct Operands {
  uint32_t inputs[5] = {};
  size_t num_inputs = 0;
  /// How many of the inputs, from the second on, are packed when the graph is built, and not read
  /// any more when it runs.
  size_t num_packed = 0;
  uint32_t output = 0;
};

struct Limits {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

using Ids = std::vector<uint32_t>;
using Shapes = std::vector<Shape>;

/// Members are called in this order, each on what the ones before have accepted.
struct NodeKind {
  fb_xnnpack::XNodeUnion kind;
  void (*operands)(const fb_xnnpack::XNode& node, Operands& out);
  /// The shape of the output from those of the inputs. XNNPACK trusts its caller in much of this (a
  /// filter's size, the channels of an input); here it is checked. InvalidProgram when they do not
  /// fit the node, or each other.
  runtime::Error (*shape)(const fb_xnnpack::XNode& node, const Operands& operands,
                          const Shapes& shapes, Shape& out);
  /// NotSupported for operands of types that no kernel takes, InvalidProgram for parameters of
  /// quantization that do not go together.
  runtime::Error (*types)(const fb_xnnpack::XNode& node, const Operands& operands,
                          const std::vector<Value>& values);
  /// Adds it to a graph of XNNPACK's. `ids`: XNNPACK's id of each value.
  xnn_status (*define)(xnn_subgraph_t graph, const fb_xnnpack::XNode& node,
                       const Operands& operands, const Limits& limits, const Ids& ids);
  /// Each element of the output is a function of the elements in its place.
  bool by_element = false;
};

using NodeKinds = runtime::Span<const NodeKind>;

// The families.
NodeKinds elementwise_kinds();
NodeKinds convolution_and_fully_connected_kinds();
NodeKinds pooling_and_resize_kinds();
NodeKinds data_movement_kinds();

/// From float32 to float32, where one of them is half precision in the payload.
const NodeKind& conversion_of_floats();

/// The row of a node; NotImplemented for a kind that has none.
runtime::Result<const NodeKind*> kind_of(const fb_xnnpack::XNode& node);

// ---- What families share ----

/// The table of a node that is known to be of the kind.
template <typename Table>
const Table& table_of(const fb_xnnpack::XNode& node) {
  return *static_cast<const Table*>(node.xnode_union());
}

template <typename Table>
void one_input(const fb_xnnpack::XNode& node, Operands& out) {
  out.inputs[0] = table_of<Table>(node).input_id();
  out.num_inputs = 1;
  out.output = table_of<Table>(node).output_id();
}
void two_inputs(const fb_xnnpack::XNode& node, Operands& out);

runtime::Error same_shape(const fb_xnnpack::XNode& node, const Operands& operands,
                          const Shapes& shapes, Shape& out);

/// Whether values of a type are computed on.
bool is_activation(fb_xnnpack::XNNDatatype type);
runtime::Error one_type(const fb_xnnpack::XNode& node, const Operands& operands,
                        const std::vector<Value>& values);

const char* name_of(const fb_xnnpack::XNode& node);

}  // namespace executorch::backends::xnnpack
