// SPDX-License-Identifier: BSD-3-Clause
// parallel_for on the process's pool.
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::extension {
namespace {

thread_local int64_t thread_number = 0;

// Calls f for piece `number`, then gives the thread its former number back.
void run_piece(
    runtime::FunctionRef<void(int64_t, int64_t)> f, int64_t number, int64_t first, int64_t last) {
  const int64_t outer = thread_number;
  thread_number = number;
  f(first, last);
  thread_number = outer;
}

}  // namespace

int64_t get_thread_num() {
  return thread_number;
}

void set_thread_num(int64_t thread_num) {
  thread_number = thread_num;
}

int64_t get_num_threads() {
  return threadpool::NoThreadPoolGuard::is_enabled()
      ? 1
      : static_cast<int64_t>(threadpool::get_threadpool()->get_thread_count());
}

bool parallel_for(
    const int64_t begin, const int64_t end, const int64_t grain_size,
    runtime::FunctionRef<void(int64_t, int64_t)> f) {
  if (begin < 0 || begin > end || grain_size < 1) {
    return false;
  }
  const int64_t items = end - begin;
  if (items <= grain_size || threadpool::NoThreadPoolGuard::is_enabled()) {
    if (items > 0) {
      run_piece(f, 0, begin, end);
    }
    return true;
  }
  threadpool::ThreadPool* pool = threadpool::get_threadpool();
  const auto threads = static_cast<int64_t>(pool->get_thread_count());
  const int64_t piece = std::max(grain_size, items / threads + (items % threads != 0));
  const int64_t pieces = items / piece + (items % piece != 0);
  const auto run = [&](size_t i) {
    const auto number = static_cast<int64_t>(i);
    const int64_t first = begin + number * piece;
    run_piece(f, number, first, first + std::min(piece, end - first));
  };
  pool->run(run, static_cast<size_t>(pieces));
  return true;
}

}  // namespace executorch::extension
