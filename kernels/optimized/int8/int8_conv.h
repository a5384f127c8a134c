// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of int8 images, channels last, by filters that are packed once.
#pragma once

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/int8/int8_matmul.h>
#include <executorch/kernels/optimized/int8/int8_values.h>

namespace executorch::kernels::optimized {

struct Int8Conv {
  Conv sizes;  // of one or two dimensions, channels last; its pointers are not read
  const int8_t* input = nullptr;
  int8_t zero = 0;  // of the input: what stands beside an image
  const uint8_t* packed = nullptr;
  const int32_t* starts = nullptr;  // by int8_conv_starts(), or null
  Requantize result;                // scales by channel
  int8_t* output = nullptr;
};

// Whether int8_conv() is as fast as kernels that convert sums in registers, as XNNPACK's do:
// measured on x86 (VNNI, AMX), counted in instructions on Arm, where it takes SMMLA and long sums.
bool suits_int8_conv(const Conv& sizes);

// As matrices, one for each group, or for several. `sizes` with the largest image.
Int8Weights int8_conv_weights(const Conv& sizes);
size_t int8_conv_bytes(const Conv& sizes, const Int8Weights& of_group);
// `filter` is [out_channels][kernel_h][kernel_w][in_channels / groups]. Scratch memory comes from
// `ctx`: MemoryAllocationFailed without it.
[[nodiscard]] runtime::Error pack_int8_conv(runtime::KernelRuntimeContext& ctx, const Conv& sizes,
                                            const Int8Weights& of_group, const int8_t* filter,
                                            uint8_t* to);
// What the sums of each channel start with: of int8_conv_channels(), group after group. `bias` may
// be null.
int64_t int8_conv_channels(const Conv& sizes, const Int8Weights& of_group);
void int8_conv_starts(const Conv& sizes, const Int8Weights& of_group, const uint8_t* packed,
                      const int32_t* bias, int32_t zero, int32_t* starts);
[[nodiscard]] runtime::Error int8_conv(runtime::KernelRuntimeContext& ctx, const Int8Conv& conv,
                                       const Int8Weights& of_group);
// The sums go to `result` instead, of problem after problem of `of_group.n` channels.
[[nodiscard]] runtime::Error int8_conv(runtime::KernelRuntimeContext& ctx, const Int8Conv& conv,
                                       const Int8Weights& of_group, const Int8Result& result);

}  // namespace executorch::kernels::optimized
