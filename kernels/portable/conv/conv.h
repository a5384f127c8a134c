// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a convolution, checked and brought to three spatial dimensions; shared by the
// convolution and its gradient.
#pragma once

#include <optional>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>

namespace executorch {
namespace kernels {

constexpr int kSpatial = 3;

// Everything with three spatial dimensions (leading ones of size 1 where there are fewer).
struct Conv {
  StridedView in;   // n, channels, d, h, w
  StridedView out;  // set by the caller
  StridedView weight;
  int64_t stride[kSpatial];
  int64_t padding[kSpatial];
  int64_t dilation[kSpatial];
  int64_t groups;
  bool transposed;
};

struct ConvArgs {
  executorch::aten::IntArrayRef stride;
  executorch::aten::IntArrayRef padding;
  executorch::aten::IntArrayRef dilation;
  executorch::aten::IntArrayRef output_padding;
  bool transposed;
  int64_t groups;
};

// Fills `conv` (but for `out`) and the shape of the result; dtypes of input, weight and bias and
// all numbers are checked.
bool plan_convolution(const OpCall& call, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, const ConvArgs& args, Shape& shape,
                      Conv& conv);

// (n, channels, d, h, w) of a view with one to three spatial dimensions.
StridedView with_three_spatial_dims(StridedView view);

}  // namespace kernels
}  // namespace executorch
