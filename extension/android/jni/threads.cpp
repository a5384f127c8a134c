// SPDX-License-Identifier: BSD-3-Clause
// A pool is replaced only while nobody uses it.
#include <executorch/extension/android/jni/threads.h>

#include <algorithm>
#include <thread>

#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::extension::jni {

namespace {

std::shared_mutex& mutex() {
  static auto& instance = *new std::shared_mutex();  // threads may outlive static objects
  return instance;
}

}  // namespace

UsesThreads::UsesThreads() : lock_(mutex()) {}

void set_num_threads(uint32_t count) {
  if (count == 0) {
    count = std::max(1U, std::thread::hardware_concurrency() / 2);
  }
  threadpool::ThreadPool* pool = threadpool::get_threadpool();
  if (pool->get_thread_count() == count) {
    return;
  }
  const std::unique_lock<std::shared_mutex> alone(mutex());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // nobody holds the pool now
  pool->_unsafe_reset_threadpool(count);
#pragma GCC diagnostic pop
}

uint32_t num_threads_for_llm() {
  return std::max(1U, cpuinfo::get_num_performant_cores() - 1);
}

}  // namespace executorch::extension::jni
