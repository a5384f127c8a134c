// SPDX-License-Identifier: BSD-3-Clause
// The operators of this runtime: each family's file has its rows.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/call.h>

#include <string_view>
#include <vector>

namespace executorch::backends::vulkan {

using Operators = runtime::Span<const Operator>;

Operators unary_operators();
Operators binary_operators();
Operators copy_operators();
Operators host_operators();
Operators matmul_operators();
Operators convolution_operators();
Operators reduction_operators();
Operators norm_operators();
Operators pooling_operators();
Operators index_operators();
Operators resample_operators();
Operators quantized_operators();
Operators attention_operators();

/// Null for one that is not there.
const Operator* find_operator(std::string_view name);

/// Names that files use, sorted.
std::vector<std::string_view> operator_names();

}  // namespace executorch::backends::vulkan
