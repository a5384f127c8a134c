// SPDX-License-Identifier: BSD-3-Clause
// Kernels of ours in XNNPACK's table of kernels: one row of bytes, or a few, times 4-bit
// weights with a scale per block, as when a language model writes a token of one text or of
// several.
#pragma once

#include "xnnpack/gemm.h"

extern "C" {

/// As XNNPACK's __avx512vnni kernels, and on weights packed for them: the same results bit for bit.
/// Block sums are exact, and floats follow in the same order. That of eight rows takes as long as
/// there are rows, up to four, and is XNNPACK's for more.
DECLARE_QD8_F32_QB4W_GEMM_MINMAX_UKERNEL_FUNCTION(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni)
DECLARE_QD8_F32_QB4W_GEMM_MINMAX_UKERNEL_FUNCTION(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_8x16c8__vnni)
}
