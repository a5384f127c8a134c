// SPDX-License-Identifier: BSD-3-Clause
// parallel_for on the process's pool.
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::extension {
namespace {

thread_local int64_t thread_number = 0;

// Pieces per thread, so that a thread that is held up leaves most of its share to the others.
constexpr int64_t kPiecesPerThread = 4;

// As many as there are grains, but no more than threads can use, and as many for each thread.
int64_t pieces_of(int64_t grains) {
  const int64_t threads = get_num_threads();
  const int64_t most = threads > 1 ? kPiecesPerThread * threads : 1;
  return grains > threads ? std::min(most, grains / threads * threads)
                          : std::clamp<int64_t>(grains, 1, most);
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

bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size,
                  runtime::FunctionRef<void(int64_t, int64_t)> f) {
  if (begin < 0 || begin > end || grain_size < 1) {
    return false;
  }
  const int64_t items = end - begin;
  const int64_t pieces = pieces_of((items + grain_size - 1) / grain_size);
  const auto run_piece = [&](size_t i) {
    const auto piece = static_cast<int64_t>(i);
    f(begin + items * piece / pieces, begin + items * (piece + 1) / pieces);
  };
  if (items > 0) {
    threadpool::get_threadpool()->run(run_piece, static_cast<size_t>(pieces));
  }
  return true;
}

}  // namespace executorch::extension
