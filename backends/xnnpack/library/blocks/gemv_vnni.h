// SPDX-License-Identifier: BSD-3-Clause
// A kernel of ours in XNNPACK's table of kernels: one row of bytes times 4-bit weights with a scale
// per block, as when a language model writes a token.
#pragma once

#include "xnnpack/gemm.h"

extern "C" {

/// As XNNPACK's __avx512vnni kernel for one row, and on weights packed for it: the same results bit
/// for bit. Block sums are exact, and floats follow in the same order.
DECLARE_QD8_F32_QB4W_GEMM_MINMAX_UKERNEL_FUNCTION(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni)
}
