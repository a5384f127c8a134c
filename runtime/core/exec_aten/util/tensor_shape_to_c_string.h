// SPDX-License-Identifier: BSD-3-Clause
// Shapes as text for messages, without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// Longest text: parentheses, kTensorDimensionLimit sizes of at most 10 digits each with ", ", and
/// the final NUL.
constexpr size_t kTensorShapeStringSizeLimit =
    1 + 10 * kTensorDimensionLimit + 2 * (kTensorDimensionLimit - 1) + 1 + 1;

/// "(2, 3, 4)". A size that is negative or has more than 10 digits shows as ERR; a shape of too
/// many dimensions as
/// "(ERR: tensor ndim exceeds maximum)".
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(
    executorch::runtime::Span<const std::int32_t> shape);
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(
    executorch::runtime::Span<const std::int64_t> shape);

}  // namespace runtime
}  // namespace executorch
