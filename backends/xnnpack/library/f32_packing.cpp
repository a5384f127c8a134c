// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, in place of two of its functions that order float weights. The one
// for filters of convolutions copies a number at a time. The one for a matrix whose rows are its
// depth leaves what the memory held in the padding of the last step, which kernels then multiply.
#include <algorithm>

#include "xnnpack/config.h"
#include "xnnpack/pack.h"

extern "C" {

/// XNNPACK's own under another name (third-party/xnnpack.cmake), for kernels that read groups of
/// values of one filter.
decltype(xnn_pack_f32_conv_goki_w) xnn_pack_f32_conv_goki_w_any;
decltype(xnn_pack_f32_gemm_gio_w) xnn_pack_f32_gemm_gio_w_any;

/// `weights` is [groups, filters, taps, channels]. For each `panel` of filters of a group, the last
/// one padded: their biases, then their weights as [taps * channels, panel]. To kernels that read
/// one value of a filter at a time, that is a matrix with taps * channels columns, for which
/// XNNPACK has a fast kernel.
void xnn_pack_f32_conv_goki_w(size_t groups, size_t filters, size_t taps, size_t channels,
                              size_t panel, size_t kr, size_t sr, const float* weights,
                              const float* bias, const void* scale, float* packed,
                              size_t extra_bytes, const void* params) {
  const xnn_gemm_config* const table = xnn_init_f32_gemm_config();
  const bool is_of_matrices =
      table != nullptr && table->nr == panel && table->log2_kr == 0 && table->log2_sr == 0;
  if (kr == 1 && sr == 1 && extra_bytes == 0 && is_of_matrices) {
    const auto pack = reinterpret_cast<xnn_packw_gemm_goi_ukernel_fn>(table->pack_gemm_goi);
    pack(groups, filters, taps * channels, panel, kr, sr, weights, bias, scale, packed, extra_bytes,
         params);
    return;
  }
  xnn_pack_f32_conv_goki_w_any(groups, filters, taps, channels, panel, kr, sr, weights, bias, scale,
                               packed, extra_bytes, params);
}

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
