// SPDX-License-Identifier: BSD-3-Clause
// Shapes of the values of a graph, and what each kind of node makes of them. XNNPACK trusts its
// caller in much of this (a filter's size, the channels of an input); here it is checked.
#pragma once

#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

constexpr size_t kMaxRank = 6;
/// Most elements of a value.
constexpr uint64_t kMaxElements = uint64_t{1} << 31;
/// What a node gives for "no bias".
constexpr uint32_t kNoValue = UINT32_MAX;

struct Shape {
  size_t rank = 0;
  size_t dims[kMaxRank] = {};

  /// Product of the dimensions, more than kMaxElements when it exceeds them.
  uint64_t num_elements() const;
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
};

/// Values that a node reads and the one it writes, by id.
struct Operands {
  uint32_t inputs[5] = {};
  size_t num_inputs = 0;
  /// How many of the inputs, from the second on, are packed when the graph is built, and not read
  /// any more when it runs.
  size_t num_packed = 0;
  uint32_t output = 0;
};

/// NotImplemented for a kind of node that is not supported.
runtime::Error operands_of(const fb_xnnpack::XNode& node, Operands& out);

/// Sets the shape of the node's output from those of its inputs, `shapes` by id. InvalidProgram
/// when they do not fit the node, or each other.
runtime::Error infer_shape(const fb_xnnpack::XNode& node, std::vector<Shape>& shapes);

}  // namespace executorch::backends::xnnpack
