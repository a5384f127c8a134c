// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>
#include <executorch/backends/xnnpack/library/convolution/grouped.h>

namespace executorch::backends::xnnpack {

const DepthwiseKernels kDepthwiseAvx512{compute_depthwise<Floats, 8>, compute_depthwise<Bytes, 8>};
const GroupedKernels kGroupedAvx512{compute_grouped<16, 1, 2, 8>, compute_grouped<16, 1, 4, 8>,
                                    compute_grouped<16, 2, 2, 8>, compute_grouped<16, 4, 4, 8>,
                                    compute_grouped<16, 8, 8, 8>, compute_grouped<16, 16, 16, 8>};

}  // namespace executorch::backends::xnnpack
