// SPDX-License-Identifier: BSD-3-Clause
// Shapes as text for messages, without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// Room for parentheses, kTensorDimensionLimit sizes of 10 digits each with ", ", and the final
/// NUL.
constexpr size_t kTensorShapeStringSizeLimit =
    1 + 10 * kTensorDimensionLimit + 2 * kTensorDimensionLimit + 1;

namespace internal {
/// The largest size that is printed.
constexpr size_t kMaximumPrintableTensorShapeElement =
    static_cast<size_t>(std::numeric_limits<int32_t>::max());
}  // namespace internal

/// "(2, 3, 4)". A size that is negative or above INT32_MAX shows as ERR; a shape of too many
/// dimensions as "(ERR: tensor ndim exceeds limit)".
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(
    executorch::runtime::Span<const std::int32_t> shape);
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(
    executorch::runtime::Span<const std::int64_t> shape);

}  // namespace runtime
}  // namespace executorch
