// SPDX-License-Identifier: BSD-3-Clause
// Sizes of inputs against the ranges in a program.
#include <executorch/runtime/executor/method.h>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

// y = x + x for x of [2..8, 3].
ProgramBuilder program_of_ranges(bool planned) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{8, 3}};
  spec.dynamic = true;
  const int32_t out = m.add_tensor(spec);
  spec.planned = planned;
  const int32_t x = m.add_tensor(spec);
  m.inputs({x}).outputs({out});
  m.call("test::add", "out", {x, x, out, out});
  m.vary(0, 0, 2);
  return builder;
}

class InputSizesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
  }
};

Error set_sizes(LoadedMethod& method, size_t input, const std::vector<int32_t>& sizes) {
  size_t numel = 1;
  for (const int32_t size : sizes) {
    numel *= static_cast<size_t>(size);
  }
  auto x = floats(sizes, std::vector<float>(numel, 1.5f));
  return method->set_input(x.tensor(), input);
}

TEST_F(InputSizesTest, EachDimensionHasItsOwnRange) {
  RecordProperty("req", "RT-024");
  for (const bool planned : {true, false}) {
    LoadedProgram program(program_of_ranges(planned).build());
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    for (const int32_t rows : {2, 8, 3, 7}) {
      EXPECT_EQ(set_sizes(method, 0, {rows, 3}), Error::Ok) << rows;
    }
    // No more elements than the bounds have, but other sizes.
    for (const auto& sizes : std::vector<std::vector<int32_t>>{
             {4, 6}, {1, 3}, {0, 3}, {2, 2}, {2, 4}, {8, 0}, {9, 3}, {9, 1}, {24, 1}}) {
      EXPECT_EQ(set_sizes(method, 0, sizes), Error::InvalidArgument) << sizes[0] << " " << sizes[1];
    }
    EXPECT_EQ(method->execute(), Error::InvalidArgument) << "the refused input is not set";
    EXPECT_EQ(set_sizes(method, 0, {6}), Error::NotSupported) << "rank";
    ASSERT_EQ(set_sizes(method, 0, {5, 3}), Error::Ok);
  }
}

TEST_F(InputSizesTest, SaysInputDimensionAndLimit) {
  LoadedProgram program(program_of_ranges(true).build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  const auto log_of = [&](const std::vector<int32_t>& sizes) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(set_sizes(method, 0, sizes), Error::InvalidArgument);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(log_of({9, 3}).find("Input 0 of method forward, dimension 0: expected 2 to 8, found 9"),
            std::string::npos);
  EXPECT_NE(log_of({4, 6}).find("Input 0 of method forward, dimension 1: expected 3, found 6"),
            std::string::npos);
}

TEST_F(InputSizesTest, SizesMayBeMultiplesAndOffsets) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{9}};
  spec.dynamic = true;
  const int32_t x = m.add_tensor(spec);
  m.inputs({x}).outputs({x});
  m.vary(0, 0, 0, 2, 1);
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  for (int32_t size = 0; size < 10; ++size) {
    EXPECT_EQ(set_sizes(method, 0, {size}), size % 2 == 1 ? Error::Ok : Error::InvalidArgument);
  }
}

// x of [n], y of [2 n], z of [n - 1].
TEST_F(InputSizesTest, RelatedSizesMustAgreeWhenTheMethodRuns) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  std::vector<int32_t> inputs;
  for (const int32_t bound : {8, 16, 7}) {
    TensorSpec spec{{bound}};
    spec.dynamic = true;
    inputs.push_back(m.add_tensor(spec));
  }
  m.inputs(inputs).outputs(inputs);
  m.vary(0, 0, 0).vary(1, 0, 0, 2, 0, 0).vary(2, 0, 0, 1, -1, 1);  // 1: any earlier one
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  const auto run = [&](int32_t x, int32_t y, int32_t z) {
    EXPECT_EQ(set_sizes(method, 0, {x}), Error::Ok);
    EXPECT_EQ(set_sizes(method, 1, {y}), Error::Ok);
    EXPECT_EQ(set_sizes(method, 2, {z}), Error::Ok);
    return method->execute();
  };
  EXPECT_EQ(run(8, 16, 7), Error::Ok);
  EXPECT_EQ(run(3, 6, 2), Error::Ok);
  EXPECT_EQ(run(3, 8, 2), Error::InvalidArgument);
  EXPECT_EQ(run(3, 6, 3), Error::InvalidArgument);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run(4, 6, 3), Error::InvalidArgument);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("dimension 0 of input 0 is 4, so dimension 0 of input 1 must be 8, got 6"),
            std::string::npos)
      << log;
  EXPECT_EQ(set_sizes(method, 0, {3}), Error::Ok);
  EXPECT_EQ(set_sizes(method, 2, {2}), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(InputSizesTest, ProgramsWithoutRangesBoundTheElements) {
  LoadedProgram program(dynamic_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(set_sizes(method, 0, {2, 6}), Error::Ok);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(set_sizes(method, 0, {5, 3}), Error::NotSupported);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("expected no more elements than (4, 3), the sizes at export, got (5, 3)"),
            std::string::npos)
      << log;
}

}  // namespace
}  // namespace executorch::runtime::testing
