// SPDX-License-Identifier: BSD-3-Clause
// How kernels ask for threads. Code that links extension_threadpool (which defines
// ET_USE_THREADPOOL for its users) runs on the pool; without it the same calls run on the calling
// thread, so that a kernel is written once.
#pragma once

#include <cstdint>

#include <c10/util/irange.h>

#include <executorch/runtime/core/function_ref.h>

namespace executorch {
namespace extension {

namespace internal {

// Items that are worth a piece of their own where each takes a few cycles.
constexpr int64_t GRAIN_SIZE = 32768;

// What parallel_for is without threads: f(begin, end), in one call.
template <typename Func>
bool parallel_for_no_threadpool(const int64_t begin, const int64_t end, const int64_t grain_size,
                                const Func& func) {
  if (begin < 0 || begin > end || grain_size < 1) {
    return false;
  }
  if (begin < end) {
    func(begin, end);
  }
  return true;
}

}  // namespace internal

#ifdef ET_USE_THREADPOOL

// Calls f(first, last) over disjoint pieces that together make [begin, end), of about the same size
// each: more than half of `grain_size` where there are several; returns when all have been called.
// Pieces run on different threads at the same time: f must not write what another piece reads.
// Inside f, and on a thread under NoThreadPoolGuard, nested calls run serially. When the pool is
// busy with another caller's work, f runs on the calling thread: callers never wait for each other.
// Returns false, without calling f, when begin > end, a bound is negative, or grain_size < 1.
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size,
                  runtime::FunctionRef<void(int64_t, int64_t)> f);

// Inside parallel_for: the number of the calling thread, below get_num_threads() as it was at the
// call and below end - begin, and different from that of every other thread that works on the same
// call at that time. Elsewhere 0.
int64_t get_thread_num();
void set_thread_num(int64_t thread_num);

// The threads that a parallel_for called here and now runs on at most: what scratch memory is sized
// by.
int64_t get_num_threads();

template <typename Func>
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size,
                  const Func& func) {
  return parallel_for(begin, end, grain_size, runtime::FunctionRef<void(int64_t, int64_t)>(func));
}

#else

// An inline namespace of its own, because one program may hold both kinds of callers.
inline namespace serial {

template <typename Func>
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size,
                  const Func& func) {
  return internal::parallel_for_no_threadpool(begin, end, grain_size, func);
}

inline int64_t get_thread_num() {
  return 0;
}

inline void set_thread_num(int64_t /*thread_num*/) {}

inline int64_t get_num_threads() {
  return 1;
}

}  // namespace serial

#endif  // ET_USE_THREADPOOL

}  // namespace extension
}  // namespace executorch

namespace torch {
namespace executor {
using ::executorch::extension::get_thread_num;
using ::executorch::extension::parallel_for;
using ::executorch::extension::set_thread_num;
}  // namespace executor
}  // namespace torch
