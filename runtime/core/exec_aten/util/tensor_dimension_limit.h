// SPDX-License-Identifier: BSD-3-Clause
// The largest rank of a tensor.
#pragma once

#include <cstddef>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Program verification refuses tensors of more dimensions, so that arrays of this length hold any
/// shape.
constexpr size_t kTensorDimensionLimit = 16;

}  // namespace runtime
}  // namespace executorch
