// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the form of f32_gemm.h as the functions that XNNPACK's tables of kernels have.
#pragma once

#include <executorch/backends/xnnpack/kernels/f32_gemm.h>

#include <cstddef>

namespace executorch::backends::xnnpack {

template <auto* kKernel>
void gemm_function(size_t rows, size_t columns, size_t depth, const void* a, size_t a_stride,
                   const void* w, void* c, size_t c_stride, size_t c_panel_stride,
                   const void* range) {
  kKernel(rows, columns, depth, static_cast<const float*>(a), a_stride,
          static_cast<const float*>(w), static_cast<float*>(c), c_stride, c_panel_stride,
          static_cast<const OutputRange*>(range));
}

/// `kHeight`: pixels of a tap.
template <auto* kKernel, size_t kHeight>
void igemm_function(size_t rows, size_t columns, size_t depth, size_t bytes_of_pointers,
                    const void** pixels, const void* w, void* c, size_t c_stride,
                    size_t c_panel_stride, size_t offset, const void* zeros, const void* range) {
  const PixelsOfRows a{reinterpret_cast<const float* const*>(pixels),
                       bytes_of_pointers / (kHeight * sizeof(void*)), kHeight, offset,
                       static_cast<const float*>(zeros)};
  kKernel(rows, columns, depth, a, static_cast<const float*>(w), static_cast<float*>(c), c_stride,
          c_panel_stride, static_cast<const OutputRange*>(range));
}

}  // namespace executorch::backends::xnnpack
