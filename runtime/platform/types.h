// SPDX-License-Identifier: BSD-3-Clause
// Types of the platform layer's C interface.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A point in time, in ticks; et_pal_ticks_to_ns_multiplier() tells what a tick is.
typedef uint64_t et_timestamp_t;

#ifdef __cplusplus
}
#endif
