// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/threads.h>

#include <executorch/runtime/platform/log.h>

#ifdef ET_USE_THREADPOOL
#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool.h>
#endif

namespace executorch::extension {

void set_cpu_threads(int32_t cpu_threads) {
#ifdef ET_USE_THREADPOOL
  const uint32_t count =
      cpu_threads == -1 ? cpuinfo::get_num_performant_cores() : static_cast<uint32_t>(cpu_threads);
  if (count > 0) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the documented way to set the threads
    threadpool::get_threadpool()->_unsafe_reset_threadpool(count);
#pragma GCC diagnostic pop
  }
#else
  if (cpu_threads > 1) {
    ET_LOG(Error, "--cpu_threads %d: this build has no thread pool and runs on one thread",
           static_cast<int>(cpu_threads));
  }
#endif
}

size_t num_cpu_threads() {
#ifdef ET_USE_THREADPOOL
  return threadpool::get_threadpool()->get_thread_count();
#else
  return 1;
#endif
}

}  // namespace executorch::extension
