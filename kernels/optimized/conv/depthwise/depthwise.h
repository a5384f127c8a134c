// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of images, channels last: each channel by a filter of its own.
#pragma once

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>

#include <cstdint>
#include <limits>

namespace executorch::kernels::optimized {

struct Depthwise {
  Conv conv;            // is_depthwise(); its weight is not read
  const float* filter;  // [kernel_h][kernel_w][channels]
  // Outputs are kept within; NaN stays NaN.
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  // Or null. Rows of its pieces are positions of the output, columns channels.
  const Epilogue* epilogue = nullptr;
};

// Threaded; the numbers do not depend on the number of threads.
void depthwise_conv(const Depthwise& depthwise);

}  // namespace executorch::kernels::optimized
