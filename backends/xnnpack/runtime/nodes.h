// SPDX-License-Identifier: BSD-3-Clause
// One node of a payload as one node of an XNNPACK subgraph.
#pragma once

#include <executorch/backends/xnnpack/runtime/shapes.h>
#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/error.h>

#include <xnnpack.h>

#include <vector>

namespace executorch::backends::xnnpack {

/// Adds `node`, whose operands and shapes have been checked, to the subgraph. `ids`: XNNPACK's id
/// of each value. InvalidProgram for parameters that make no sense, Internal when XNNPACK refuses.
runtime::Error define_node(xnn_subgraph_t subgraph, const fb_xnnpack::XNode& node,
                           const std::vector<uint32_t>& ids);

/// Adds a linear layer or a 1 x 1 convolution as a product with a matrix that XNNPACK packs
/// whenever it runs.
runtime::Error define_product(xnn_subgraph_t subgraph, const fb_xnnpack::XNode& node,
                              const Operands& operands, const std::vector<uint32_t>& ids);

/// Ok, or an error with a message that says what XNNPACK was asked for: NotSupported for what it
/// has no kernel for, MemoryAllocationFailed, Internal.
runtime::Error check_status(xnn_status status, const char* what);

}  // namespace executorch::backends::xnnpack
