// SPDX-License-Identifier: BSD-3-Clause
// Convolution in f32 or bfloat16 without an unfolded copy of the input: shapes, and the kernels.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// A 3-D convolution (2-D ones have depth 1, 1-D ones also height 1). Sizes in elements; every one
// at least 1.
struct Conv {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of all groups together
  int64_t in_d, in_h, in_w, out_d, out_h, out_w;
  int64_t kernel_d, kernel_h, kernel_w;
  int64_t stride_d, stride_h, stride_w, pad_d, pad_h, pad_w, dilation_d, dilation_h, dilation_w;
  bool channels_last;  // layout of input and output: NDHWC instead of NCDHW
  const float* input;
  const float* weight;        // [out_channels][in_channels / groups][kernel_d][kernel_h][kernel_w]
  bool weight_channels_last;  // or with in_channels / groups innermost
  const float* bias;          // out_channels values, or nullptr
  float* output;
};

// Every kernel takes scratch memory from ctx: MemoryAllocationFailed when there is none, with
// nothing written. All are threaded.

// Whether a convolution of one or two dimensions, channels last, has a filter for each channel.
bool is_depthwise(const Conv& conv);
// Only if is_depthwise().
[[nodiscard]] runtime::Error depthwise_nhwc_conv(runtime::KernelRuntimeContext& ctx,
                                                 const Conv& conv);

// Kernel size and stride 1, no padding: a matrix multiply.
bool is_pointwise(const Conv& conv);
[[nodiscard]] runtime::Error pointwise_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// Any convolution. Scratch memory: 400 to 550 KB a thread, more for rows of very many channels.
[[nodiscard]] runtime::Error direct_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// What a bfloat16 convolution reads and writes, instead of the f32 pointers of its Conv; the bias
// stays f32 and in the Conv.
struct BFloat16Conv {
  const uint16_t* input;
  const uint16_t* weight;
  uint16_t* output;
};

// True for 1-D and 2-D convolutions that are faster in bfloat16 than widened, on this processor.
bool has_bfloat16_conv(const Conv& conv);
// Sums in f32, rounded once; subnormal operands count as 0. Only if has_bfloat16_conv().
[[nodiscard]] runtime::Error bfloat16_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv,
                                           const BFloat16Conv& values);

// The transpose of a convolution, NCHW only: weight is [in_channels][out_channels / groups]
// [kernel_d][kernel_h][kernel_w]. Scratch memory from ctx holds a copy of the output and of the
// weights.
[[nodiscard]] runtime::Error transposed_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv);
// The same for weights that are many more than the positions. Scratch memory from ctx holds a value
// for every tap, input position and output channel of a group.
[[nodiscard]] runtime::Error transposed_sums(runtime::KernelRuntimeContext& ctx, const Conv& conv);

// Gradients of a 2-D convolution (NCHW, weights as above) by its input, weights and bias; `conv`
// need not name an output. Scratch memory from ctx; the outputs are then undefined when it is not
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
