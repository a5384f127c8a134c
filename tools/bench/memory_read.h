// SPDX-License-Identifier: BSD-3-Clause
// Memory that threads read from its beginning to its end, and how long that takes.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::bench {

// Four sums, so that additions do not wait for each other.
inline uint64_t sum_of(const uint64_t* words, int64_t count) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = 0; i + 4 <= count; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  return a + b + c + d;
}

// Words in large pages where the system has those, as weights are: from ordinary ones some
// processors read half as fast.
struct Words {
  explicit Words(size_t count) {
    void* const pages = ::mmap(nullptr, count * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      return;
    }
#if defined(MADV_HUGEPAGE)
    static_cast<void>(::madvise(pages, count * sizeof(uint64_t), MADV_HUGEPAGE));
#endif
    data = static_cast<uint64_t*>(pages);
    size = static_cast<int64_t>(count);
    std::fill_n(data, count, 1);
  }

  uint64_t* data = nullptr;  // the process's; null without memory
  int64_t size = 0;
};

// With the threads that set_cpu_threads() gave. `check` grows by a sum of what was read.
inline double seconds_of_read(const Words& words, int64_t threads, uint64_t* check) {
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  executorch::extension::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t begin = words.size * part / threads, end = words.size * (part + 1) / threads;
      sums[static_cast<size_t>(part)] = sum_of(words.data + begin, end - begin);
    }
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const uint64_t sum : sums) {
    *check += sum;
  }
  return taken.count();
}

}  // namespace executorch::bench
