// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>

namespace executorch::backends::xnnpack {

const DepthwiseKernels kDepthwiseAvx512{compute_depthwise<Floats, 8>, compute_depthwise<Bytes, 8>};

}  // namespace executorch::backends::xnnpack
