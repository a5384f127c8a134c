// SPDX-License-Identifier: BSD-3-Clause
// What an event costs: nanoseconds, both readings of the clock included, as a network of 100
// operators and a delegate of 100 parts would make them. Prints "operator NS" and "delegate NS",
// the least of several rounds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

using executorch::etdump::ETDumpGen;

constexpr int kNames = 100;
constexpr int kRuns = 200;
constexpr int kRounds = 30;

template <typename Event>
double nanoseconds_of(const Event& event) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    ETDumpGen gen;
    const auto start = std::chrono::steady_clock::now();
    for (int run = 0; run < kRuns; ++run) {
      gen.create_event_block("Execute");
      for (int i = 0; i < kNames; ++i) {
        event(gen, i);
      }
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / (kRuns * kNames));
    std::free(gen.get_etdump_data().buf);
  }
  return least;
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  std::array<std::string, kNames> names;
  for (int i = 0; i < kNames; ++i) {
    names[i] = "Convolution (NHWC, F32) IGEMM #" + std::to_string(i + 1) + " [" +
               std::to_string(2 * i + 3) + "]";
  }
  std::printf("operator %.0f\n", nanoseconds_of([](ETDumpGen& gen, int i) {
                gen.set_chain_debug_handle(0, i);
                gen.end_profiling(gen.start_profiling("native_call_convolution.out"));
              }));
  std::printf("delegate %.0f\n", nanoseconds_of([&](ETDumpGen& gen, int i) {
                const auto start = et_pal_current_ticks();
                gen.log_profiling_delegate(names[i].c_str(),
                                           executorch::runtime::kUnsetDelegateDebugIntId, start,
                                           et_pal_current_ticks());
              }));
  return 0;
}
