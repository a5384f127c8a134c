// SPDX-License-Identifier: BSD-3-Clause
// Which kernels suit the GEMM of a convolution depends on its size, but XNNPACK's functions that
// create convolutions ask for a table of kernels without saying what for. Included ahead of those
// (tuning.cmake), in C, this adds the sizes by the names that they have there.
#pragma once

#include <stddef.h>

#include "xnnpack/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/// For pixels of `depth` channels and so many filters: tiles where those are full enough.
const struct xnn_gemm_config* xnn_qs8_qc8w_gemm_config_for(size_t depth, size_t outputs);

#ifdef __cplusplus
}
#else
#define xnn_init_qs8_qc8w_gemm_config() \
  xnn_qs8_qc8w_gemm_config_for(group_input_channels, group_output_channels)
#endif
