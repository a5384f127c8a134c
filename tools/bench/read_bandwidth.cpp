// SPDX-License-Identifier: BSD-3-Clause
// Prints how fast memory is read, which bounds how fast a language model writes: each token reads
// every weight once. read_bandwidth --help.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/tools/bench/memory_read.h>

namespace {

using executorch::bench::seconds_of_read;
using executorch::bench::Words;
using executorch::extension::FlagTable;

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
