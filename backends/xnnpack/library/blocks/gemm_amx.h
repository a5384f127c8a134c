// SPDX-License-Identifier: BSD-3-Clause
// A kernel of ours in XNNPACK's table of kernels: bytes times 4-bit weights with a scale per block,
// on AMX tiles.
#pragma once

#include "xnnpack/gemm.h"

extern "C" {

/// As XNNPACK's kernels of this name, for weights packed for 16 columns and groups of 8: up to 32
/// `rows` of `depth` bytes at `a` times `columns` columns. The same results bit for bit as of
/// __avx512vnni: block sums are exact, and floats follow in the same order.
DECLARE_QD8_F32_QB4W_GEMM_MINMAX_UKERNEL_FUNCTION(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_32x16c8__amx)
}
