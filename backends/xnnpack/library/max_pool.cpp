// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its function that says which kernel pools float values:
// on x86 that is one for vectors of four.
#include <executorch/backends/xnnpack/library/max_pool.h>
#include <executorch/backends/xnnpack/library/table.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

using namespace executorch::backends::xnnpack;

extern "C" {
/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_init_f32_maxpool_config) xnn_init_f32_maxpool_config_any;

const xnn_maxpool_config* xnn_init_f32_maxpool_config() {
  return changed(xnn_init_f32_maxpool_config_any(), [](xnn_maxpool_config& table) {
    if (xnn_init_hardware_config()->use_x86_avx && table.first_pass_tile_size == kFirstTaps &&
        table.remainder_pass_tile_size == kMoreTaps) {
      table.ukernel = reinterpret_cast<xnn_maxpool_ukernel_fn>(max_pool_avx);
    }
  });
}

}  // extern "C"
