// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX2 and FMA: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>
#include <executorch/backends/xnnpack/library/convolution/grouped.h>

namespace executorch::backends::xnnpack {

const DepthwiseKernels kDepthwiseAvx2{compute_depthwise<Floats, 4>, compute_depthwise<Bytes, 4>};
const GroupedKernels kGroupedAvx2{compute_grouped<8, 1, 2, 4>, compute_grouped<8, 1, 4, 4>,
                                  compute_grouped<8, 2, 2, 4>, compute_grouped<8, 4, 4, 4>,
                                  compute_grouped<8, 8, 8, 8>, nullptr};

}  // namespace executorch::backends::xnnpack
