// SPDX-License-Identifier: BSD-3-Clause
// What layers do with rows between products, each of which programs otherwise spell as 3 to 9
// operators: all tensors Float and row-major.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;

// x / sqrt(mean(x^2) + eps) * weight, by rows: x [.., n], weight [n].
Tensor& rms_norm_out(RuntimeContext& ctx, const Tensor& x, const Tensor& weight, double eps,
                     Tensor& out);

// x [.., tokens, heads, width] turned by each token's angles: cos and sin [tokens, width / 2] with
// pairs of neighbors, [tokens, width] with pairs of `halves`.
Tensor& rotate_out(RuntimeContext& ctx, const Tensor& x, const Tensor& cos, const Tensor& sin,
                   bool halves, Tensor& out);

// x * sigmoid(x) * by, of one shape.
Tensor& silu_gate_out(RuntimeContext& ctx, const Tensor& x, const Tensor& by, Tensor& out);

}  // namespace native
}  // namespace executor
}  // namespace torch
