// SPDX-License-Identifier: BSD-3-Clause
// Eight threads load and run methods of one program. Meant for the thread sanitizer.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;

TEST(SharedProgramTest, ThreadsHaveTheirOwnMethods) {
  RecordProperty("req", "RT-010 RT-011");
  runtime_init();
  register_test_kernels();
  LoadedProgram state(stateful_program().build());
  LoadedProgram loop(looping_program().build());
  ASSERT_TRUE(state.ok() && loop.ok());
  std::atomic<int> num_right{0};
  auto work = [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      LoadedMethod adds(state);
      LoadedMethod loops(loop);
      if (!adds.ok() || !loops.ok()) {
        return;
      }
      const auto number = static_cast<float>(thread);
      auto x = floats({2}, {number, number});
      auto rows = floats({1 + thread % 4, 2}, std::vector<float>(2 + 2 * (thread % 4), number));
      const bool ok = adds->set_input(x.tensor(), 0) == Error::Ok && adds->execute() == Error::Ok &&
                      adds->execute() == Error::Ok &&
                      loops->set_input(rows.tensor(), 0) == Error::Ok &&
                      loops->execute() == Error::Ok;
      num_right += ok &&
                   adds->get_output(0).toTensor().const_data_ptr<float>()[0] == 1 + 2 * number &&
                   loops->get_output(0).toTensor().const_data_ptr<float>()[0] == 2 * number;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(work, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(num_right, kThreads * kRounds);
}

}  // namespace
}  // namespace executorch::runtime::testing
