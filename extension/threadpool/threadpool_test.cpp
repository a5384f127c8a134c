// SPDX-License-Identifier: BSD-3-Clause
// The pool: every index once, resizing, guards, nesting, several callers at once, forking.
#include <executorch/extension/threadpool/threadpool.h>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using executorch::extension::cpuinfo::get_num_performant_cores;
using executorch::extension::threadpool::get_pthreadpool;
using executorch::extension::threadpool::get_threadpool;
using executorch::extension::threadpool::NoThreadPoolGuard;
using executorch::extension::threadpool::ThreadPool;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

void expect_each_index_once(ThreadPool& pool, size_t range) {
  std::vector<std::atomic<int>> seen(range);
  pool.run([&](size_t i) { seen[i]++; }, range);
  for (size_t i = 0; i < range; ++i) {
    ASSERT_EQ(seen[i], 1) << "index " << i << " of " << range;
  }
}

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (size_t threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.get_thread_count(), threads);
    for (size_t range : {0, 1, 2, 7, 1000}) {
      expect_each_index_once(pool, range);
    }
  }
}

// Pairs of package and core as Linux numbers them, of processors that this process may run on; 0
// where it does not say.
size_t cores_of_linux() {
  std::set<std::pair<int, int>> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return 0;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    int package = 0;
    int core = 0;
    if (CPU_ISSET(cpu, &allowed) && std::ifstream(folder + "physical_package_id") >> package &&
        std::ifstream(folder + "core_id") >> core) {
      cores.insert({package, core});
    }
  }
  return cores.size();
}

// Each call waits until all have begun: only so many threads get through.
void expect_threads(ThreadPool& pool, int threads) {
  std::atomic<int> arrived{0};
  pool.run(
      [&](size_t) {
        arrived++;
        while (arrived < threads) {
          std::this_thread::yield();
        }
      },
      threads);
  EXPECT_EQ(arrived, threads);
}

TEST(ThreadPool, DefaultsToPerformanceCoresAndCanBeResized) {
  RecordProperty("req", "EXT-023");
  EXPECT_GE(get_num_performant_cores(), 1u);
  ThreadPool* pool = get_threadpool();
  const size_t before = pool->get_thread_count();
  EXPECT_EQ(before, get_num_performant_cores());
#if defined(__x86_64__)  // elsewhere small cores may be left out
  if (const size_t cores = cores_of_linux()) {
    EXPECT_EQ(before, cores);
  }
#endif
  EXPECT_TRUE(pool->_unsafe_reset_threadpool(0));
  EXPECT_EQ(pool->get_thread_count(), before);
  for (uint32_t threads : {1u, 4u, 2u}) {
    EXPECT_TRUE(pool->_unsafe_reset_threadpool(threads));
    EXPECT_EQ(get_threadpool()->get_thread_count(), threads);
    EXPECT_EQ(get_pthreadpool() == nullptr, threads == 1);
    expect_each_index_once(*pool, 100);
    expect_threads(*pool, static_cast<int>(threads));
  }
  pool->_unsafe_destroy_threadpool();
  expect_each_index_once(*pool, 10);
  EXPECT_TRUE(pool->_unsafe_reset_threadpool(static_cast<uint32_t>(before)));
}

TEST(ThreadPool, WorkRunsOnSeveralThreads) {
  ThreadPool pool(2);
  expect_threads(pool, 2);
}

TEST(ThreadPool, GuardKeepsWorkOnTheCallingThread) {
  ThreadPool pool(4);
  const std::thread::id caller = std::this_thread::get_id();
  int other_thread = 0;
  {
    const NoThreadPoolGuard guard;
    EXPECT_TRUE(NoThreadPoolGuard::is_enabled());
    EXPECT_EQ(get_pthreadpool(), nullptr);
    {
      const NoThreadPoolGuard nested;
    }
    EXPECT_TRUE(NoThreadPoolGuard::is_enabled());
    pool.run([&](size_t) { other_thread += std::this_thread::get_id() != caller; }, 50);
  }
  EXPECT_FALSE(NoThreadPoolGuard::is_enabled());
  EXPECT_EQ(other_thread, 0);
}

TEST(ThreadPool, NestedRunsDoNotDeadlock) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.run([&](size_t) { pool.run([&](size_t) { inner++; }, 10); }, 10);
  EXPECT_EQ(inner, 100);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        pool.run([&](size_t i) { sum += static_cast<int64_t>(i); }, 5);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(sum, 8 * 50 * 10);
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer ends a child that starts threads
TEST(ThreadPool, SurvivesFork) {
  ThreadPool* parent = get_threadpool();
  parent->run([](size_t) {}, 4);
  const size_t threads = parent->get_thread_count();
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> calls{0};
    get_threadpool()->run([&](size_t) { calls++; }, 16);
    _exit(calls == 16 && get_threadpool()->get_thread_count() == threads ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
