// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of int8 images, channels last: each channel by a filter of its own.
#pragma once

#include <executorch/kernels/optimized/int8/int8_conv.h>

namespace executorch::kernels::optimized {

// Whether int8_depthwise() is as fast as kernels with a filter's size: always where x86 has
// products of bytes, elsewhere for large filters, which those go through in several passes.
bool suits_int8_depthwise(const Conv& sizes);

// Channels and taps of a filter in the order of the processor's instructions: those of a multiple
// of 16 channels, and of 4 taps.
int64_t int8_depthwise_channels(int64_t channels);
size_t int8_depthwise_bytes(const Conv& sizes);
// `filter` is [kernel_h][kernel_w][channels].
void pack_int8_depthwise(const Conv& sizes, const int8_t* filter, uint8_t* to);
// What the sum of each channel starts with, by place. `bias` may be null.
void int8_depthwise_starts(const Conv& sizes, const uint8_t* packed, const int32_t* bias,
                           int32_t zero, int32_t* starts);
// Where the kernel reads what there is of a channel: a place below int8_depthwise_channels().
int64_t int8_depthwise_place(int64_t channels, int64_t channel);

// `conv.starts` and the scales of its result are by place. MemoryAllocationFailed when `ctx` has no
// room for a pixel and some addresses a thread. Threaded.
[[nodiscard]] runtime::Error int8_depthwise(runtime::KernelRuntimeContext& ctx,
                                            const Int8Conv& conv);

}  // namespace executorch::kernels::optimized
