// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its function that says which kernels multiply bytes by
// 4-bit weights with a scale per block. Ours read weights as they are packed for its own.
#include <executorch/backends/xnnpack/library/blocks/rows_vnni.h>
#include <executorch/backends/xnnpack/library/table.h>

#if defined(EXECUTORCH_XNNPACK_AMX)
#include <executorch/backends/xnnpack/library/blocks/gemm_amx.h>
#endif

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

namespace {

void set(xnn_gemm_config& config, size_t rows,
         decltype(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni)* kernel) {
  config.minmax.dqgemm[rows - 1].function[0] = reinterpret_cast<xnn_dqgemm_ukernel_fn>(kernel);
}

}  // namespace

extern "C" {

/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_init_qd8_f32_qb4w_gemm_config) xnn_init_qd8_f32_qb4w_gemm_config_any;

const xnn_gemm_config* xnn_init_qd8_f32_qb4w_gemm_config() {
  using executorch::backends::xnnpack::changed;
  return changed(xnn_init_qd8_f32_qb4w_gemm_config_any(), [](xnn_gemm_config& table) {
    const xnn_hardware_config& hardware = *xnn_init_hardware_config();
    if (table.nr != 16 || table.log2_kr != 3 || !hardware.use_x86_avx512vnnigfni) {
      return;
    }
    set(table, 1, xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni);
    if (table.mr == 8) {
      set(table, 8, xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni);
    }
#if defined(EXECUTORCH_XNNPACK_AMX)
    if (hardware.use_x86_avx512amx) {
      table.minmax.dqgemm[table.mr - 1] = {};
      table.mr = 32;
      set(table, table.mr, xnn_qd8_f32_qb4w_gemm_minmax_ukernel_32x16c8__amx);
    }
#endif
  });
}

}  // extern "C"
