/* SPDX-License-Identifier: BSD-3-Clause */
/* XNNPACK refuses flags of convolutions that it does not know. Included ahead of the source that
   does (tuning.cmake), this makes ours some that it knows. */
#pragma once

#include <executorch/backends/xnnpack/library/gemm/precision.h>
#include <xnnpack.h>

static const uint32_t xnn_flag_transient_indirection_buffer = XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER;
#undef XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER
#define XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER \
  (xnn_flag_transient_indirection_buffer | EXECUTORCH_XNN_FLAG_BFLOAT16)
