// SPDX-License-Identifier: BSD-3-Clause
// The pool over pthreadpool: one run() has the workers, everybody else computes on its own thread
// instead of waiting.
#include <executorch/extension/threadpool/threadpool.h>

#include <pthread.h>

#include <algorithm>
#include <thread>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::extension::threadpool {
namespace {

thread_local bool serial_thread = false;

std::atomic<ThreadPool*> process_pool{nullptr};
std::atomic<size_t> process_pool_size{0};

// A forked child has none of its parent's workers: forget the pool (it cannot be joined) and make
// one at the next use.
void forget_pool_in_child() {
  ThreadPool* lost = process_pool.exchange(nullptr);
  if (lost != nullptr) {
    process_pool_size = lost->get_thread_count();
  }
}

size_t default_thread_count() {
  if (const size_t inherited = process_pool_size; inherited > 0) {
    return inherited;
  }
#if defined(__EMSCRIPTEN__)
  return 1;  // a thread needs a worker that JavaScript made: who made some says how many
#elif defined(EXECUTORCH_THREADPOOL_USE_ALL_LOGICAL_CORES)
  return 0;
#else
  return cpuinfo::get_num_performant_cores();
#endif
}

}  // namespace

bool NoThreadPoolGuard::is_enabled() {
  return serial_thread;
}

void NoThreadPoolGuard::set_enabled(bool enabled) {
  serial_thread = enabled;
}

ThreadPool::ThreadPool(size_t thread_count) {
  if (thread_count == 0) {
    thread_count = std::max(1u, std::thread::hardware_concurrency());
  }
  replace(thread_count);  // without threads to be had, the pool is the calling thread alone
}

ThreadPool::~ThreadPool() = default;

bool ThreadPool::replace(size_t thread_count) {
  std::unique_ptr<pthreadpool, Destroy> fresh;
  if (thread_count > 1) {
    fresh.reset(pthreadpool_create(thread_count));
    if (fresh == nullptr) {
      return false;
    }
  }
  const std::lock_guard<std::mutex> lock(busy_);
  current_ = fresh.get();
  thread_count_ = thread_count;
  pool_ = std::move(fresh);
  return true;
}

size_t ThreadPool::get_thread_count() const {
  return thread_count_;
}

bool ThreadPool::_unsafe_reset_threadpool(uint32_t num_threads) {
  return num_threads == 0 || num_threads == get_thread_count() || replace(num_threads);
}

void ThreadPool::_unsafe_destroy_threadpool() {
  replace(1);
}

void ThreadPool::run(runtime::FunctionRef<void(size_t)> fn, size_t range) {
  std::unique_lock<std::mutex> lock(busy_, std::defer_lock);
  // A thread that is inside run() has the guard set and must not touch the lock it may hold itself.
  if (range < 2 || NoThreadPoolGuard::is_enabled() || !lock.try_lock() || pool_ == nullptr) {
    if (lock.owns_lock()) {
      lock.unlock();
    }
    const int64_t outer = get_thread_num();
    set_thread_num(0);
    for (size_t i = 0; i < range; ++i) {
      fn(i);
    }
    set_thread_num(outer);
    return;
  }
  // Any of the workers may take any item. Where there are fewer items than workers, an item's own
  // number is the thread's: callers have scratch memory for as many threads as can be busy.
  struct Work {
    runtime::FunctionRef<void(size_t)>& fn;
    bool by_item;
  } work = {fn, range <= thread_count_};
  pthreadpool_parallelize_1d_with_thread(
      pool_.get(),
      [](void* context, size_t thread, size_t i) {
        const Work& work = *static_cast<Work*>(context);
        const NoThreadPoolGuard nested_calls_stay_here;
        const int64_t outer = get_thread_num();
        set_thread_num(static_cast<int64_t>(work.by_item ? i : thread));
        work.fn(i);
        set_thread_num(outer);
      },
      &work, range,
      /*flags=*/0);
}

ThreadPool* get_threadpool() {
  ThreadPool* pool = process_pool.load();
  if (pool != nullptr) {
    return pool;
  }
  static const int fork_handler = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
  static_cast<void>(fork_handler);
  auto fresh = std::make_unique<ThreadPool>(default_thread_count());
  if (process_pool.compare_exchange_strong(pool, fresh.get())) {
    pool = fresh.release();
  }
  return pool;
}

pthreadpool_t get_pthreadpool() {
  return NoThreadPoolGuard::is_enabled() ? nullptr : get_threadpool()->current_.load();
}

}  // namespace executorch::extension::threadpool
