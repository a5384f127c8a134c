// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of the parts of XNNPACK that know operators: how often parameters of rows are
// repeated (no kernel that is built has more than 16 rows), and how many kernels there may be.
#pragma once

#if !defined(__cplusplus) && !defined(_POSIX_C_SOURCE) && !defined(__MACH__)
#define _POSIX_C_SOURCE 199309L  // as runtime.c has it ahead of all others
#endif

#include "xnnpack.h"
#include "xnnpack/config.h"

// Kernels read parameters of rows quantized while running for a whole tile (on processors with GFNI
// 14 rows, on tiles 32), and for rows that there are not must find the last row's: what they
// compute from these goes where the last row goes. XNNPACK repeats them 10 times, too few for 1 to
// 3 rows of 14.
#undef XNN_EXTRA_QUANTIZATION_PARAMS
#define XNN_EXTRA_QUANTIZATION_PARAMS 32

// Depthwise convolutions have kernels for more numbers of taps (convolution/depthwise_taps.cpp).
#undef XNN_MAX_F32_DWCONV_UKERNELS
#define XNN_MAX_F32_DWCONV_UKERNELS 11
#undef XNN_MAX_QC8_DWCONV_UKERNELS
#define XNN_MAX_QC8_DWCONV_UKERNELS 10
