// SPDX-License-Identifier: BSD-3-Clause
// The portable kernels that optimized ones hand unusual cases to. The signatures are those of the rows of
// kernels/portable/functions.yaml; a difference is a link error.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include <executorch/kernels/optimized/dense.h>

namespace torch::executor::native {

using Ctx = executorch::runtime::KernelRuntimeContext;
using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using MaybeTensor = const std::optional<Tensor>&;

Tensor& mm_out(Ctx& ctx, const Tensor& self, const Tensor& mat2, Tensor& out);
Tensor& bmm_out(Ctx& ctx, const Tensor& self, const Tensor& mat2, Tensor& out);
Tensor& addmm_out(Ctx& ctx, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                  const Scalar& beta, const Scalar& alpha, Tensor& out);
Tensor& linear_out(Ctx& ctx, const Tensor& input, const Tensor& weight, MaybeTensor bias,
                   Tensor& out);
Tensor& convolution_out(Ctx& ctx, const Tensor& input, const Tensor& weight, MaybeTensor bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool transposed, IntArrayRef output_padding, int64_t groups, Tensor& out);

}  // namespace torch::executor::native
