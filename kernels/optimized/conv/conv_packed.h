// SPDX-License-Identifier: BSD-3-Clause
// Convolutions, channels last, by filters that are packed once. What a row of the filter reads for
// an output is contiguous in such an image, and for the next output as far on as the stride: so a
// row of outputs is one matrix multiply for each row of the filter, without a copy of the image but
// for the zeros around it.
#pragma once

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstddef>

namespace executorch::kernels::optimized {

// Whether it is a 1-D or 2-D convolution, channels last, that fills vectors: not of small groups,
// but for those of two, four or eight channels where a vector holds several.
bool is_packable(const Conv& conv);

// For this process alone: `packed` of later calls with the same channels, groups, taps and values
// of `weight`.
size_t num_conv_packed(const Conv& conv);  // floats
void pack_conv(const Conv& conv, float* packed);

// Outputs are kept within [min, max]; NaN stays NaN. `conv.weight` is not read. Rows of
// `epilogue`'s pieces, if there is one, are positions of the output, columns channels. Scratch
// memory from ctx: what a task reads of an image, at most some 300 KB a thread.
// MemoryAllocationFailed without, with nothing written. Threaded; the numbers do not depend on the
// number of threads.
[[nodiscard]] runtime::Error packed_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv,
                                         const float* packed, float min, float max,
                                         const Epilogue* epilogue = nullptr);

}  // namespace executorch::kernels::optimized
