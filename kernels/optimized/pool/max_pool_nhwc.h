// SPDX-License-Identifier: BSD-3-Clause
// Max pooling of images, channels last, without the places of the largest values.
#pragma once

#include <executorch/kernels/optimized/gemm/gemm.h>

#include <cstdint>

namespace executorch::kernels::optimized {

// Sizes in elements, every one at least 1 but for paddings; images are [batch][h][w][channels].
struct MaxPool {
  int64_t batch, channels;
  int64_t in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  const float* input;
  float* output;
  // Outputs are kept within, NaN among what a window sees is its result; -infinity, bounded, is
  // that of one which sees nothing.
  float min, max;
  // Or null. Rows of its pieces are positions of the output, columns channels.
  const Epilogue* epilogue;
};

// Threaded; needs no scratch memory.
void max_pool_nhwc(const MaxPool& pool);

}  // namespace executorch::kernels::optimized
