// SPDX-License-Identifier: BSD-3-Clause
// What is special about nodes with weights.
#pragma once

#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>

namespace executorch::backends::xnnpack {

/// Adds a linear layer or a 1 x 1 convolution as a matmul by a matrix of two dimensions.
xnn_status define_matmul(xnn_subgraph_t graph, const Operands& operands, const Limits& limits,
                         const Ids& ids);

/// Whether products of floats may be of values that are rounded, where the user asks for that.
bool can_round(const fb_xnnpack::XNode& node, const Operands& operands,
               const std::vector<Value>& values);

/// Whether a packed operand of half precision is to be given to XNNPACK as float32.
bool widens(const fb_xnnpack::XNode& node, const Operands& operands,
            const std::vector<Value>& values, uint32_t id);

}  // namespace executorch::backends::xnnpack
