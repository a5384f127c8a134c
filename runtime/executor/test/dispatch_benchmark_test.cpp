// SPDX-License-Identifier: BSD-3-Clause
// What the instruction loop costs: prints nanoseconds of each kind of instruction, measured with
// kernels that do nothing. The bound is what is promised, microseconds at most; a few nanoseconds
// are usual.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

constexpr int kInstructions = 10000;
constexpr int kRepeats = 20;
constexpr double kMaxNanoseconds = 1000;

int num_calls = 0;

void count(KernelRuntimeContext&, Span<EValue*> /*stack*/) {
  ++num_calls;
}

// The least time of one instruction over all repeats.
double nanoseconds_per_instruction(Method& method) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(method.execute(), Error::Ok);
    const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
    best = std::min(best, spent.count() / kInstructions);
  }
  return best;
}

class DispatchBenchmark : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    static const Kernel kernel("bench::count", count);
    ASSERT_EQ(register_kernels({&kernel, 1}), Error::Ok);
  }

  // Runs `builder`'s one method and prints the cost of what it is made of.
  void measure(ProgramBuilder& builder, const char* kind) {
    LoadedProgram program(builder);
    ASSERT_TRUE(program.ok());
    LoadedMethod::Options options;
    options.pool_size = 4 << 20;
    LoadedMethod method(program.program.get(), "forward", options);
    ASSERT_TRUE(method.ok());
    const size_t used = method.method_allocator.used_size();
    const double nanoseconds = nanoseconds_per_instruction(method.method.get());
    std::printf("%-16s %6.1f ns\n", kind, nanoseconds);
    EXPECT_LT(nanoseconds, kMaxNanoseconds);
    EXPECT_EQ(method.method_allocator.used_size(), used) << "running takes no memory";
    EXPECT_EQ(method.temp_allocator.used_size(), 0u);
  }
};

TEST_F(DispatchBenchmark, KernelCalls) {
  RecordProperty("req", "RT-044");
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2, 3}});
  const int32_t y = method.add_tensor({{2, 3}});
  method.outputs({y});
  for (int i = 0; i < kInstructions; ++i) {
    method.call("bench::count", "", {x, x, y, y});
  }
  num_calls = 0;
  measure(builder, "kernel call");
  EXPECT_EQ(num_calls, kInstructions * kRepeats);
}

TEST_F(DispatchBenchmark, Moves) {
  RecordProperty("req", "RT-044");
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  const int32_t from = method.add_int(1);
  const int32_t to = method.add_int(2);
  method.outputs({to});
  for (int i = 0; i < kInstructions; ++i) {
    method.move(from, to);
  }
  measure(builder, "move");
}

TEST_F(DispatchBenchmark, Jumps) {
  RecordProperty("req", "RT-044");
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  const int32_t condition = method.add_bool(false);
  method.outputs({condition});
  for (int i = 0; i < kInstructions; ++i) {
    method.jump_false(condition, i + 1);
  }
  measure(builder, "jump");
}

}  // namespace
}  // namespace executorch::runtime::testing
