// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK packs weights while it makes a runtime, by the calling thread alone. Here functions that
// pack find the threads that the runtime will have. Included from C.
#pragma once

#include <pthreadpool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The calling thread packs with the threads of `pool` from now on; null: alone.
void xnn_set_packing_pool(pthreadpool_t pool);

/// For pthreadpool_parallelize_*(), which take null as the calling thread alone.
pthreadpool_t xnn_get_packing_pool(void);

#ifdef __cplusplus
}
#endif
