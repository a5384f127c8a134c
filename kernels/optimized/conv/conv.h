// SPDX-License-Identifier: BSD-3-Clause
// Convolution in f32 without an unfolded copy of the input: shapes, and the direct kernel for
// depthwise ones.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// A 2-D convolution (1-D ones have height 1). Sizes in elements; every one at least 1.
struct Conv {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of all groups together
  int64_t in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w;
  int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  bool channels_last;  // how input and output lie: NHWC instead of NCHW
  const float* input;
  const float* weight;        // [out_channels][in_channels / groups][kernel_h][kernel_w]
  bool weight_channels_last;  // or [out_channels][kernel_h][kernel_w][in_channels / groups]
  const float* bias;          // out_channels values, or nullptr
  float* output;
};

// groups == in_channels == out_channels, of any kernel size, stride and dilation. Threaded over
// channels (NCHW) or rows (NHWC). Scratch memory comes from ctx; MemoryAllocationFailed when it
// cannot, with nothing written.
[[nodiscard]] runtime::Error depthwise_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// Every other one, as a matrix multiply whose right operand is gathered from the input panel by
// panel.
[[nodiscard]] runtime::Error gemm_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// The transpose of a convolution, NCHW only: weight is [in_channels][out_channels /
// groups][kernel_h][kernel_w]. Scratch memory from ctx holds kernel_h * kernel_w values for every
// input position and output channel of a group.
[[nodiscard]] runtime::Error transposed_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// Rows [first, last) of the unfolded input (NCHW), one for each tap of each channel from `planes`
// on: the value that every output position sees through that tap, 0 outside the input.
void unfold(const Conv& conv, const float* planes, int64_t first, int64_t last, float* out);

// Gradients of a convolution (NCHW, weights as above) by its input, weights and bias; `conv` need
// not name an output. Scratch memory from ctx; the outputs are then undefined when it is not
// enough.
[[nodiscard]] runtime::Error conv_input_gradient(runtime::KernelRuntimeContext& ctx,
                                                 const Conv& conv, const float* grad_output,
                                                 float* grad_input);
[[nodiscard]] runtime::Error conv_weight_gradient(runtime::KernelRuntimeContext& ctx,
                                                  const Conv& conv, const float* grad_output,
                                                  float* grad_weight);
[[nodiscard]] runtime::Error conv_bias_gradient(runtime::KernelRuntimeContext& ctx,
                                                const Conv& conv, const float* grad_output,
                                                float* grad_bias);

}  // namespace executorch::kernels::optimized
