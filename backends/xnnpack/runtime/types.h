// SPDX-License-Identifier: BSD-3-Clause
// Which types of values a node takes together. XNNPACK takes some combinations for granted.
#pragma once

#include <executorch/backends/xnnpack/runtime/shapes.h>
#include <executorch/backends/xnnpack/runtime/values.h>

#include <vector>

namespace executorch::backends::xnnpack {

/// NotSupported for operands of types that no kernel takes, InvalidProgram for parameters of
/// quantization that do not go together. All ids are within `values`.
runtime::Error check_types(const fb_xnnpack::XNode& node, const Operands& operands,
                           const std::vector<Value>& values);

/// Whether a packed operand of half precision is to be given to XNNPACK as float32.
bool widens(const fb_xnnpack::XNode& node, const Operands& operands,
            const std::vector<Value>& values, uint32_t id);

}  // namespace executorch::backends::xnnpack
