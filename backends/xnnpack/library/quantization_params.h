// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of the parts of XNNPACK that keep parameters of rows quantized while running.
// Kernels read those of a whole tile, up to 16 rows (on processors with GFNI 14), and for rows that
// there are not must find the last row's: what they compute from these goes where the last row
// goes. XNNPACK repeats them 10 times, too few for 1 to 3 rows in a tile of 14.
#pragma once

#define _POSIX_C_SOURCE 199309L  // as runtime.c has it ahead of all others

#include "xnnpack.h"

#undef XNN_EXTRA_QUANTIZATION_PARAMS
#define XNN_EXTRA_QUANTIZATION_PARAMS 16
