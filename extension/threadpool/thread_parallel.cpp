// SPDX-License-Identifier: BSD-3-Clause
// parallel_for on the process's pool.
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::extension {
namespace {
thread_local int64_t thread_number = 0;
}  // namespace

int64_t get_thread_num() {
  return thread_number;
}

void set_thread_num(int64_t thread_num) {
  thread_number = thread_num;
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
      f(begin, end);
    }
    return true;
  }
  threadpool::ThreadPool* pool = threadpool::get_threadpool();
  const auto threads = static_cast<int64_t>(pool->get_thread_count());
  const int64_t piece = std::max(grain_size, items / threads + (items % threads != 0));
  const int64_t pieces = items / piece + (items % piece != 0);
  const auto run_piece = [&](size_t i) {
    const int64_t outer = get_thread_num();
    set_thread_num(static_cast<int64_t>(i));
    const int64_t first = begin + static_cast<int64_t>(i) * piece;
    f(first, first + std::min(piece, end - first));
    set_thread_num(outer);
  };
  pool->run(run_piece, static_cast<size_t>(pieces));
  return true;
}

}  // namespace executorch::extension
