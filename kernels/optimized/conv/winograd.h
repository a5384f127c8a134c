// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of 3 x 3 taps with 2.25 times fewer multiplications: F(2x2, 3x3), algorithm 1 of A.
// Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016). A tile of 4 x
// 4 positions of the input and a filter become 16 points each, whose products become 2 x 2 outputs.
// As tiles are added up, rounding differs from that of a sum of products, and one infinite value
// makes NaN of every output of the tiles that it is in.
#pragma once

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstddef>

namespace executorch::kernels::optimized {

// Whether it is a 2-D convolution, channels last, of one group, with 3 x 3 taps and stride and
// dilation 1.
bool is_winograd(const Conv& conv);

// What winograd_conv() takes of the time of a direct convolution, roughly.
double cost_of_winograd(const Conv& conv);

// The filters of a convolution, transformed and packed once, for this process alone: `packed` of
// later calls with the same number of channels and values of `weight`.
size_t num_winograd_packed(const Conv& conv);  // floats
// Threaded. MemoryAllocationFailed without scratch memory from ctx.
[[nodiscard]] runtime::Error pack_winograd(runtime::KernelRuntimeContext& ctx, const Conv& conv,
                                           float* packed);

// Outputs are kept within [min, max]; NaN stays NaN. `conv.weight` is not read. Rows of
// `epilogue`'s pieces, if there is one, are positions of the output, columns channels. Scratch
// memory from ctx: 1 to 2 MB a thread. Threaded; the numbers do not depend on the number of
// threads.
[[nodiscard]] runtime::Error winograd_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv,
                                           const float* packed, float min, float max,
                                           const Epilogue* epilogue = nullptr);

}  // namespace executorch::kernels::optimized
