// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX2 and FMA: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>

namespace executorch::backends::xnnpack {

const DepthwiseKernels kDepthwiseAvx2{compute_depthwise<Floats, 4>, compute_depthwise<Bytes, 4>};

}  // namespace executorch::backends::xnnpack
