// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its function that orders a matrix whose rows are its
// depth: that one leaves what the memory held in the padding of the last step, which kernels then
// multiply.
#include <algorithm>

#include "xnnpack/pack.h"

extern "C" {

/// XNNPACK's own under another name (corrections.cmake).
decltype(xnn_pack_f32_gemm_gio_w) xnn_pack_f32_gemm_gio_w_any;

/// `weights` is [groups, depth, columns]. For each `panel` of columns: their biases, then their
/// weights in steps of kr * sr along the depth, the last one padded with zeros, then `extra_bytes`.
void xnn_pack_f32_gemm_gio_w(size_t groups, size_t columns, size_t depth, size_t panel, size_t kr,
                             size_t sr, size_t stride, const float* weights, const float* bias,
                             const void* scale, float* packed, size_t extra_bytes,
                             const void* params) {
  const size_t step = kr * sr;
  if (const size_t left = depth % step; left != 0) {
    const size_t panels = groups * ((columns + panel - 1) / panel);
    const size_t whole = panel * (1 + depth - left);
    const size_t values = whole + panel * step + extra_bytes / sizeof(float);
    for (size_t i = 0; i < panels; ++i) {
      std::fill_n(packed + i * values + whole, panel * step, 0.0f);
    }
  }
  xnn_pack_f32_gemm_gio_w_any(groups, columns, depth, panel, kr, sr, stride, weights, bias, scale,
                              packed, extra_bytes, params);
}

}  // extern "C"
