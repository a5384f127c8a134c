// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX2 and FMA: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>

namespace executorch::backends::xnnpack {

DepthwiseKernel* const kDepthwiseAvx2 = compute_depthwise<4>;

}  // namespace executorch::backends::xnnpack
