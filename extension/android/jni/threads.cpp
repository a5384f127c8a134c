// SPDX-License-Identifier: BSD-3-Clause
// A pool is replaced only while nobody uses it.
#include <executorch/extension/android/jni/threads.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::jni {

namespace {

struct Users {
  std::mutex mutex;
  int count = 0;
};

Users& users() {
  static auto& instance = *new Users();  // threads may outlive static objects
  return instance;
}

}  // namespace

UsesThreads::UsesThreads() {
  const std::lock_guard<std::mutex> lock(users().mutex);
  ++users().count;
}

UsesThreads::~UsesThreads() {
  const std::lock_guard<std::mutex> lock(users().mutex);
  --users().count;
}

void set_num_threads(uint32_t count) {
  if (count == 0) {
    count = std::max(1U, std::thread::hardware_concurrency() / 2);
  }
  const std::lock_guard<std::mutex> lock(users().mutex);  // who wants to begin waits
  threadpool::ThreadPool* pool = threadpool::get_threadpool();
  if (pool->get_thread_count() == count) {
    return;
  }
  if (users().count > 0) {
    ET_LOG(Info, "The pool keeps its %zu threads instead of %u, as a method runs",
           pool->get_thread_count(), static_cast<unsigned>(count));
    return;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // nobody holds the pool now
  pool->_unsafe_reset_threadpool(count);
#pragma GCC diagnostic pop
}

uint32_t num_threads_for_llm() {
  return std::max(1U, cpuinfo::get_num_performant_cores() - 1);
}

}  // namespace executorch::extension::jni
