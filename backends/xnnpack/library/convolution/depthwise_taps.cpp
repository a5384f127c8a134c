// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its functions that say which kernels convolve each
// channel by itself: theirs, and ours for more taps.
#include <executorch/backends/xnnpack/library/convolution/depthwise_taps.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/microparams-init.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace executorch::backends::xnnpack {

namespace {

DepthwiseKernel* kernel() {
#if XNN_ARCH_X86_64
  const xnn_hardware_config& hardware = *xnn_init_hardware_config();
  if (hardware.use_x86_avx512skx) {
    return kDepthwiseAvx512;
  }
  if (hardware.use_x86_avx2 && hardware.use_x86_fma3) {
    return kDepthwiseAvx2;
  }
#endif
  return compute_depthwise<2>;
}

/// A filter takes the next of these; weights of the taps that it does not have are zero.
using Tiles = std::index_sequence<32, 49, 64, 81, 121, 169, 225>;

template <size_t kTaps>
void convolve_s8(size_t channels, size_t outputs, const int8_t** input, const void* weights,
                 int8_t* output, intptr_t input_stride, size_t output_increment,
                 size_t input_offset, const int8_t* zero,
                 const xnn_qs8_qc8w_conv_minmax_params* params) {
  const auto& p = params->fp32_scalar;
  kernel()({kTaps, channels, outputs, reinterpret_cast<const void**>(input), weights, output,
            input_stride, output_increment, input_offset, zero,
            static_cast<float>(p.output_min - p.output_zero_point),
            static_cast<float>(p.output_max - p.output_zero_point), p.output_zero_point});
}

/// Puts ours into the free places behind theirs.
template <size_t kMax>
struct Configs {
  xnn_dwconv_config of[kMax];

  template <typename Put>
  Configs(const xnn_dwconv_config* theirs, Put put) {
    std::copy_n(theirs, kMax, of);
    xnn_dwconv_config* next = std::find_if(
        of, of + kMax, [](const xnn_dwconv_config& config) { return config.primary_tile == 0; });
    add(next, put, Tiles());
  }

 private:
  template <typename Put, size_t... kTaps>
  void add(xnn_dwconv_config* next, Put put, std::index_sequence<kTaps...>) {
    static_assert(std::max({kTaps...}) <= kMaxDepthwiseTaps);
    const auto add_one = [&](auto taps) {
      if (next == of + kMax) {
        return;
      }
      *next = {};
      next->channel_tile = next->channel_subtile = kDepthwiseBlock;
      next->channel_round = 1;
      next->primary_tile = static_cast<uint8_t>(taps);
      put(taps, *next++);
    };
    (add_one(std::integral_constant<size_t, kTaps>()), ...);
  }
};

}  // namespace

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

extern "C" {

/// XNNPACK's own under other names (tuning.cmake).
decltype(xnn_init_qs8_qc8w_dwconv_config) xnn_init_qs8_qc8w_dwconv_config_any;

const xnn_dwconv_config* xnn_init_qs8_qc8w_dwconv_config() {
  const xnn_dwconv_config* const theirs = xnn_init_qs8_qc8w_dwconv_config_any();
  if (theirs == nullptr) {
    return nullptr;
  }
  static const Configs<XNN_MAX_QC8_DWCONV_UKERNELS> ours(theirs, [](auto taps, auto& config) {
    config.minmax.unipass =
        reinterpret_cast<xnn_dwconv_unipass_ukernel_fn>(convolve_s8<decltype(taps)::value>);
    config.init.qs8_qc8w = xnn_init_qs8_qc8w_conv_minmax_fp32_scalar_params;
  });
  return ours.of;
}

}  // extern "C"
