// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its function that says which kernel exponentials of
// floats use: that one calls the C library for each.
#include <executorch/backends/xnnpack/library/table.h>
#include <executorch/backends/xnnpack/library/unary/exponential.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

using namespace executorch::backends::xnnpack;

extern "C" {

/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_init_f32_exp_config) xnn_init_f32_exp_config_any;

const xnn_unary_elementwise_config* xnn_init_f32_exp_config() {
  return changed(xnn_init_f32_exp_config_any(), [](xnn_unary_elementwise_config& table) {
    if (xnn_init_hardware_config()->use_x86_avx512skx) {
      table.ukernel = [](size_t bytes, const void* input, void* output, const xnn_unary_uparams*) {
        exponential_avx512(bytes / sizeof(float), static_cast<const float*>(input),
                           static_cast<float*>(output));
      };
    }
  });
}

}  // extern "C"
