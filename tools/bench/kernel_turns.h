// SPDX-License-Identifier: BSD-3-Clause
// What programs that time a layer of XNNPACK's and one of ours in turns have in common.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/threadpool/threadpool.h>

#include <xnnpack.h>

namespace kernel_turns {

struct DeleteOperator {
  void operator()(xnn_operator* op) const { xnn_delete_operator(op); }
};

inline std::vector<float> numbers(size_t count, float step) {
  std::vector<float> made(count);
  for (size_t i = 0; i < count; ++i) {
    made[i] = std::sin(static_cast<float>(i) * step);
  }
  return made;
}

/// Packed weights, at the beginning of a cache line as the backend's are.
class Packed {
 public:
  float* make(size_t count) {
    data_.reset(new Line[count / kFloats + 1]);
    return data();
  }
  float* data() const { return data_[0].floats; }

 private:
  static constexpr size_t kFloats = 16;
  struct alignas(64) Line {
    float floats[kFloats];
  };
  std::unique_ptr<Line[]> data_;
};

/// Reads --threads and --turns, sets the pool and begins with XNNPACK; the code to end with when
/// nothing is left to do. `program` and `example`: for --help.
inline std::optional<int> begin(const char* program, const char* example, int argc, char** argv,
                                int32_t& threads, int32_t& turns) {
  const executorch::extension::FlagTable table = {
      program,
      example,
      {{"threads", &threads, "Threads that compute."},
       {"turns", &turns, "How often each layer runs; the least time counts."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return code;
  }
  if (threads < 1 || turns < 1) {
    std::fprintf(stderr, "Expected positive --threads and --turns\n");
    return 1;
  }
  executorch::extension::set_cpu_threads(threads);
  return xnn_initialize(nullptr) == xnn_status_success ? std::nullopt : std::optional<int>(1);
}

inline void run_operator(xnn_operator* op) {
  xnn_run_operator(op, executorch::extension::threadpool::get_pthreadpool());
}

/// Of the largest element.
inline double difference(const std::vector<float>& theirs, const std::vector<float>& ours) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
    error = std::max(error, std::abs(static_cast<double>(theirs[i]) - ours[i]));
  }
  return error / largest;
}

struct Times {
  double theirs = 1e12, ours = 1e12;  // the least of many turns, in microseconds
  double ratio() const { return ours / theirs; }
};

template <typename Run>
double microseconds_of(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

template <typename Theirs, typename Ours>
Times times_of(int turns, const Theirs& theirs, const Ours& ours) {
  Times times;
  for (int turn = 0; turn < turns; ++turn) {
    times.theirs = std::min(times.theirs, microseconds_of(theirs));
    times.ours = std::min(times.ours, microseconds_of(ours));
  }
  return times;
}

/// The last line: what all layers together say.
class Summary {
 public:
  void add(const Times& times) {
    logs_ += std::log(times.ratio());
    worst_ = std::max(worst_, times.ratio());
    ++count_;
  }
  void print(int32_t threads) const {
    std::printf("ours / XNNPACK: geometric mean %.3f, worst %.3f of %zu layers, %d threads\n",
                std::exp(logs_ / static_cast<double>(count_)), worst_, count_, threads);
  }

 private:
  double logs_ = 0, worst_ = 0;
  size_t count_ = 0;
};

}  // namespace kernel_turns
