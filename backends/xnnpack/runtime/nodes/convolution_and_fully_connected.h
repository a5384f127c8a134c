// SPDX-License-Identifier: BSD-3-Clause
// What is special about nodes with weights.
#pragma once

#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>

namespace executorch::backends::xnnpack {

/// Whether a packed operand of half precision is to be given to XNNPACK as float32.
bool widens(const fb_xnnpack::XNode& node, const Operands& operands,
            const std::vector<Value>& values, uint32_t id);

}  // namespace executorch::backends::xnnpack
