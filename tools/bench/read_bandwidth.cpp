// SPDX-License-Identifier: BSD-3-Clause
// Prints how fast memory is read, which bounds how fast a language model writes: each token reads
// every weight once. read_bandwidth --help.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <vector>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace {

using executorch::extension::FlagTable;

// Four sums, so that additions do not wait for each other.
uint64_t sum_of(const uint64_t* words, int64_t count) {
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

double seconds_of_read(const Words& words, int64_t threads, uint64_t* check) {
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

}  // namespace

int main(int argc, char** argv) {
  int32_t megabytes = 100, threads = 0, rounds = 20;
  const FlagTable table = {
      "read_bandwidth: GB/s that threads read from memory together, the best of some rounds.",
      "read_bandwidth --megabytes=100 --threads=2",
      {{"megabytes", &megabytes, "What is read: as much as the weights of the model."},
       {"threads", &threads, "0: each count up to that of the processor's cores."},
       {"rounds", &rounds, "Times that all is read."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  if (megabytes <= 0 || threads < 0 || rounds <= 0) {
    std::cerr << "Expected positive --megabytes and --rounds, and --threads of 0 or more\n";
    return 1;
  }
  const Words words(static_cast<size_t>(megabytes) * 1000000 / sizeof(uint64_t));
  if (words.data == nullptr) {
    std::cerr << "Expected memory of " << megabytes
              << " MB, found less: give a smaller --megabytes\n";
    return 1;
  }
  const auto cores =
      static_cast<int32_t>(executorch::extension::threadpool::get_threadpool()->get_thread_count());
  uint64_t check = 0;
  for (int32_t count = threads == 0 ? 1 : threads; count <= (threads == 0 ? cores : threads);
       ++count) {
    executorch::extension::set_cpu_threads(count);
    double best = std::numeric_limits<double>::infinity();
    for (int32_t i = 0; i < rounds; ++i) {
      best = std::min(best, seconds_of_read(words, count, &check));
    }
    std::printf("{\"threads\": %d, \"megabytes\": %d, \"gigabytes_per_second\": %.2f}\n", count,
                megabytes, static_cast<double>(words.size) * sizeof(uint64_t) / best / 1e9);
  }
  return check == 0 ? 1 : 0;
}
