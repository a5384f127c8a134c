// SPDX-License-Identifier: BSD-3-Clause
// A value that a step reads where other nodes would have moved it from; those are not computed.
#pragma once

#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>

#include <vector>

namespace executorch::backends::xnnpack {

/// Element (i, j, ...) of a shape lies offset + i * strides[0] + j * strides[1] + ... elements
/// behind the first one of a value.
struct StridedView {
  int64_t offset = 0;
  Shape shape;
  int64_t strides[kMaxRank] = {};

  static StridedView whole(const Shape& shape);
  /// What a node makes of it that moves values, or leaves them where they are; false for a reshape
  /// that would have to copy.
  bool apply(const GraphNode& node, const Shape& output);
};

/// Whether it is a transpose, slice or reshape of floats.
bool is_data_movement(const Graph& graph, const GraphNode& node);

/// Of `value` behind nodes, by place, in their order; false where one would have to copy.
bool view_through(const Graph& graph, const std::vector<size_t>& nodes, uint32_t value,
                  const Shapes& shapes, StridedView& out);

}  // namespace executorch::backends::xnnpack
