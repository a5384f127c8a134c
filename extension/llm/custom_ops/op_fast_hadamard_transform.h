// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;

// Along the last dimension of Float, Double or Half in row-major order: of 2^k elements, the
// orthonormal transform in Sylvester's order; of 28 * 2^k, that of each 2^k and then, of 28 each,
// the product with a matrix of +-1 that is not normalized: results are sqrt(28) times as long.
// Other sizes and dtypes: InvalidArgument.
Tensor& fast_hadamard_transform_out(RuntimeContext& ctx, const Tensor& mat, Tensor& out);

}  // namespace native
}  // namespace executor
}  // namespace torch
