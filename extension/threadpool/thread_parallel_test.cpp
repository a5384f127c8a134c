// SPDX-License-Identifier: BSD-3-Clause
// parallel_for: the pieces make up the range, thread numbers are distinct, wrong arguments are
// refused.
#include <executorch/extension/parallel/thread_parallel.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <executorch/extension/threadpool/threadpool.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using executorch::extension::threadpool::get_threadpool;
using executorch::extension::threadpool::NoThreadPoolGuard;

TEST(ParallelFor, CoversTheRangeOnce) {
  RecordProperty("req", "EXT-025");
  for (int64_t grain : {1, 3, 64, 1000}) {
    for (int64_t begin : {0, 5}) {
      for (int64_t items : {0, 1, 2, 63, 64, 65, 1000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(items));
        ASSERT_TRUE(parallel_for(begin, begin + items, grain, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            seen[static_cast<size_t>(i - begin)]++;
          }
        }));
        for (const auto& count : seen) {
          ASSERT_EQ(count, 1);
        }
      }
    }
  }
}

TEST(ParallelFor, ThreadNumbersIndexScratchMemory) {
  const auto threads = static_cast<int64_t>(get_threadpool()->get_thread_count());
  std::vector<int64_t> scratch(static_cast<size_t>(threads), 0);
  std::atomic<bool> in_range{true};
  parallel_for(0, 10000, 1, [&](int64_t first, int64_t last) {
    const int64_t number = get_thread_num();
    if (number < 0 || number >= threads) {
      in_range = false;
      return;
    }
    for (int64_t i = first; i < last; ++i) {
      scratch[static_cast<size_t>(number)]++;  // a race here is one that ThreadSanitizer sees
    }
  });
  ASSERT_TRUE(in_range);
  int64_t sum = 0;
  for (int64_t part : scratch) {
    sum += part;
  }
  EXPECT_EQ(sum, 10000);
  EXPECT_EQ(get_thread_num(), 0);
}

// Scratch memory is made for as many threads as can be busy: of 8 threads 3 with 3 items.
TEST(ParallelFor, ThreadNumbersAreBelowTheNumberOfItems) {
  ASSERT_TRUE(get_threadpool()->_unsafe_reset_threadpool(8));
  for (const int64_t items : {1, 2, 3, 5, 7, 8, 9, 33}) {
    for (int round = 0; round < 10; ++round) {
      const int64_t most = std::min<int64_t>(items, 8);
      std::vector<std::atomic<int>> busy(static_cast<size_t>(most));
      std::atomic<int> wrong = 0;
      parallel_for(0, items, 1, [&](int64_t, int64_t) {
        const int64_t number = get_thread_num();
        if (number < 0 || number >= most) {
          ++wrong;
          return;
        }
        wrong += busy[static_cast<size_t>(number)].fetch_add(1) != 0;
        std::this_thread::yield();
        --busy[static_cast<size_t>(number)];
      });
      ASSERT_EQ(wrong, 0) << items << " items";
    }
  }
}

TEST(ParallelFor, WrongArgumentsAreRefused) {
  int calls = 0;
  const auto count = [&](int64_t, int64_t) { calls++; };
  EXPECT_FALSE(parallel_for(2, 1, 1, count));
  EXPECT_FALSE(parallel_for(-1, 1, 1, count));
  EXPECT_FALSE(parallel_for(0, 10, 0, count));
  EXPECT_FALSE(parallel_for(0, 10, -3, count));
  EXPECT_EQ(calls, 0);
}

TEST(ParallelFor, NestedAndGuardedCallsAreOnePiece) {
  const NoThreadPoolGuard guard;
  int pieces = 0;
  EXPECT_TRUE(parallel_for(0, 100, 1, [&](int64_t first, int64_t last) {
    pieces++;
    EXPECT_EQ(last - first, 100);
  }));
  EXPECT_EQ(pieces, 1);
}

TEST(ParallelFor, ManyThreadsAtOnce) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        parallel_for(0, 100, 10, [&](int64_t first, int64_t last) { sum += last - first; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(sum, 4 * 100 * 100);
}

}  // namespace
