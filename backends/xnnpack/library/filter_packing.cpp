// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its function that orders the filters of a convolution of
// floats, which copies a number at a time.
#ifdef EXECUTORCH_XNNPACK_BFLOAT16
#include <executorch/backends/xnnpack/library/gemm/bfloat16_packing.h>
#endif

#include "xnnpack/config.h"
#include "xnnpack/pack.h"

extern "C" {

/// XNNPACK's own under another name (tuning.cmake), for kernels that read groups of values of one
/// filter.
decltype(xnn_pack_f32_conv_goki_w) xnn_pack_f32_conv_goki_w_any;

/// `weights` is [groups, filters, taps, channels]. For each `panel` of filters of a group, the last
/// one padded: their biases, then their weights as [taps * channels, panel]. To kernels that read
/// one value of a filter at a time, that is a matrix with taps * channels columns, for which
/// XNNPACK has a fast kernel.
void xnn_pack_f32_conv_goki_w(size_t groups, size_t filters, size_t taps, size_t channels,
                              size_t panel, size_t kr, size_t sr, const float* weights,
                              const float* bias, const void* scale, float* packed,
                              size_t extra_bytes, const void* params) {
#ifdef EXECUTORCH_XNNPACK_BFLOAT16
  if (kr == 2) {  // no other kernels read pairs
    const size_t filter = taps * channels;
    executorch::backends::xnnpack::pack_bfloat16(
        {weights, bias, groups, filters, taps, channels, filters * filter, filter, channels, 1},
        panel, extra_bytes, packed);
    return;
  }
#endif
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

}  // extern "C"
