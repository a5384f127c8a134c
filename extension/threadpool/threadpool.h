// SPDX-License-Identifier: BSD-3-Clause
// The one pool of worker threads that kernels and delegates share.
#pragma once

#include <pthreadpool.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/core/function_ref.h>

namespace executorch::extension::threadpool {

// Every method may be called from any thread; the two that begin with `_unsafe` must not be called
// while another thread still uses the pthreadpool_t it got from get_pthreadpool().
class ThreadPool final {
 public:
  // thread_count counts the calling thread. 0 stands for one thread per processor.
  explicit ThreadPool(size_t thread_count = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  // Threads that share the work of run(), the calling one included; at least 1.
  size_t get_thread_count() const;

  // Replaces the workers; 0 or the present number changes nothing. Waits for a running run() of
  // this class. False, and nothing changes, when the threads cannot be had.
  [[deprecated("changes a pool that others may hold")]] bool _unsafe_reset_threadpool(
      uint32_t num_threads);

  // Ends the workers; what runs later runs on the calling thread until the next reset.
  [[deprecated("changes a pool that others may hold")]] void _unsafe_destroy_threadpool();

  // Calls fn(i) once for every i in [0, range), spread over the threads, and returns when all are
  // done. Nested calls, calls under NoThreadPoolGuard, and calls while another thread's run() holds
  // the workers run on the calling thread.
  void run(runtime::FunctionRef<void(size_t)> fn, size_t range);

 private:
  friend pthreadpool_t get_pthreadpool();

  struct Destroy {
    void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  };

  bool replace(size_t thread_count);

  std::mutex busy_;  // held by the one run() or reset that has the workers; guards pool_
  std::unique_ptr<pthreadpool, Destroy> pool_;   // nullptr when there is one thread
  std::atomic<pthreadpool_t> current_{nullptr};  // what pool_ holds, readable while run() goes on
  std::atomic<size_t> thread_count_{1};
};

// The process's pool, made at the first call, never destroyed. Its size is
// get_num_performant_cores() unless the build chose all logical cores. Never nullptr. A forked
// child gets a pool of its own, of the same size.
ThreadPool* get_threadpool();

// The workers of that pool for libraries that speak pthreadpool; nullptr, which means "run on the
// calling thread", under NoThreadPoolGuard or when the pool has one thread.
pthreadpool_t get_pthreadpool();

}  // namespace executorch::extension::threadpool

// The historic spelling.
namespace torch::executorch::threadpool {
using ::executorch::extension::threadpool::get_pthreadpool;
using ::executorch::extension::threadpool::get_threadpool;
using ::executorch::extension::threadpool::NoThreadPoolGuard;
using ::executorch::extension::threadpool::ThreadPool;
}  // namespace torch::executorch::threadpool
