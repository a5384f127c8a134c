// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/packing_pool.h>

namespace {

thread_local pthreadpool_t packing_pool = nullptr;

}  // namespace

extern "C" {

void xnn_set_packing_pool(pthreadpool_t pool) {
  packing_pool = pool;
}

pthreadpool_t xnn_get_packing_pool() {
  return packing_pool;
}

}  // extern "C"
