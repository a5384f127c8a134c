// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of XNNPACK's sources that take scales of blocks (tuning.cmake). Each of the two
// checks every scale, which who loaded them has done. Then they go among the packed weights, in a
// pass of their own; packing.cpp puts them there as it packs.
#pragma once

#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"

/// Only those checks call it: of one value for all, no loop is left.
#define math_cvt_fp32_bf16(bits) ((void)(bits), 1.0f)
#define xnn_init_blockwise_scale_bf16_params(...) ((void)0)
