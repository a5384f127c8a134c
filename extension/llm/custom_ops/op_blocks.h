// SPDX-License-Identifier: BSD-3-Clause
// Layers whose weights keep the bits of a GGUF file's blocks (kernels/optimized/blocks).
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::ArrayRef;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Tensor;
using ::executorch::aten::TensorList;

// out[i] = x weights[i]^T + biases[i], of one x: Float [.., k] in row-major order. weights[i]: Byte
// [panels, bytes of a panel] of GGUF's format number formats[i] with sizes[i] rows; at most four.
// Rows of x become integers by the 32 numbers, of 8 bits or, with activation_bits of 16, of 15.
void linear_of_blocks_out(RuntimeContext& ctx, const Tensor& x, TensorList weights,
                          IntArrayRef formats, IntArrayRef sizes,
                          ArrayRef<std::optional<Tensor>> biases, int64_t activation_bits,
                          TensorList out);

// Rows `indices` (Int or Long) of such a weight: Float [.., k].
Tensor& embedding_of_blocks_out(RuntimeContext& ctx, const Tensor& weight, int64_t format,
                                int64_t size, const Tensor& indices, Tensor& out);

}  // namespace native
}  // namespace executor
}  // namespace torch
