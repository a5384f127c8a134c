/* SPDX-License-Identifier: BSD-3-Clause */
/* A precision that the user of a delegate has chosen: GEMMs of floats that round their operands to
   bfloat16. XNNPACK's functions that create linear layers and convolutions of floats ask for a
   table of kernels without saying what for. Included ahead of those (tuning.cmake), in C, this adds
   their flags by the name that they have there. */
#pragma once

#include <stdint.h>

/// A flag of xnn_define_fully_connected() and xnn_define_convolution_2d(), beside XNNPACK's own:
/// a bf16 matmul, sums of float. No effect where the processor has no such products; none
/// where the library is built without them.
#ifdef EXECUTORCH_XNNPACK_BFLOAT16
#define EXECUTORCH_XNN_FLAG_BFLOAT16 0x01000000u
#else
#define EXECUTORCH_XNN_FLAG_BFLOAT16 0u
#endif

#ifdef __cplusplus
extern "C" {
#else
#include "xnnpack/config.h"
#endif

/// The kernels that `flags` ask for.
const struct xnn_gemm_config* xnn_f32_gemm_config_for(uint32_t flags);

#ifdef __cplusplus
}
#else
#define xnn_init_f32_gemm_config() xnn_f32_gemm_config_for(flags)
#endif
