// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK in place of its function that says which kernel pools float values:
// on x86 that is one for vectors of four, which loses NaN.
#include <executorch/backends/xnnpack/library/max_pool/kernel.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

extern "C" {
/// XNNPACK's own under another name (corrections.cmake).
decltype(xnn_init_f32_maxpool_config) xnn_init_f32_maxpool_config_any;

const xnn_maxpool_config* xnn_init_f32_maxpool_config() {
  using namespace executorch::backends::xnnpack;
  const xnn_maxpool_config* const theirs = xnn_init_f32_maxpool_config_any();
  if (theirs == nullptr || theirs->first_pass_tile_size != kFirstTaps ||
      theirs->remainder_pass_tile_size != kMoreTaps) {
    return theirs;
  }
  static const xnn_maxpool_config ours = [&] {
    const xnn_hardware_config& hardware = *xnn_init_hardware_config();
    xnn_maxpool_config config = *theirs;
    if (hardware.use_x86_avx) {
      MaxPool* const kernel = hardware.use_x86_avx512skx ? max_pool_avx512 : max_pool_avx;
      config.ukernel = reinterpret_cast<xnn_maxpool_ukernel_fn>(kernel);
    }
    return config;
  }();
  return &ours;
}

}  // extern "C"
