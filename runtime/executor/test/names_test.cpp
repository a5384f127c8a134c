// SPDX-License-Identifier: BSD-3-Clause
// What a program says of its inputs and outputs beside their types: names, ranges, free text.
#include <string>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

class NamesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
  }
};

TEST_F(NamesTest, AreThoseOfTheFile) {
  LoadedProgram program(named_program().build());
  const auto meta = program->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->input_name(0), "image");
  EXPECT_EQ(meta->input_name(1), "state.hidden");
  EXPECT_EQ(meta->input_name(2), "");
  EXPECT_EQ(meta->output_name(0), "scores");
  EXPECT_EQ(meta->output_name(1), "");
  EXPECT_EQ(meta->output_name(9), "");
  EXPECT_EQ(program->user_metadata(), "{\"labels\": [\"cat\", \"dog\"]}");
}

TEST_F(NamesTest, RangesOfDimensions) {
  LoadedProgram program(named_program().build());
  const auto meta = program->method_meta("forward");
  const auto expect = [](Result<SizeRange> range, int32_t min, int32_t max) {
    ASSERT_TRUE(range.ok());
    EXPECT_EQ(range->min, min);
    EXPECT_EQ(range->max, max);
  };
  expect(meta->input_size_range(0, 0), 2, 8);
  expect(meta->input_size_range(0, 1), 3, 3);
  expect(meta->input_size_range(1, 0), 4, 4);
  expect(meta->output_size_range(0, 0), 2, 8);
  expect(meta->output_size_range(0, 1), 3, 3);
  EXPECT_EQ(meta->input_size_range(0, 2).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->input_size_range(2, 0).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->output_size_range(1, 0).error(), Error::InvalidArgument);
}

// Files of others, and those of before.
TEST_F(NamesTest, FilesWithoutAny) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{8, 3}};
  spec.dynamic = true;
  const int32_t x = m.add_tensor(spec);
  m.inputs({x}).outputs({x});
  LoadedProgram program(builder.build());
  const auto meta = program->method_meta("forward");
  EXPECT_EQ(meta->input_name(0), "");
  EXPECT_EQ(meta->output_name(0), "");
  EXPECT_EQ(program->user_metadata(), "");
  EXPECT_EQ(meta->input_size_range(0, 1)->min, 0);
  EXPECT_EQ(meta->output_size_range(0, 1)->min, 0);
  EXPECT_EQ(meta->output_size_range(0, 1)->max, 3);
}

TEST_F(NamesTest, ErrorsSayThem) {
  LoadedProgram program(named_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  const auto log_of = [&](size_t input, const std::vector<int32_t>& sizes) {
    size_t numel = 1;
    for (const int32_t size : sizes) {
      numel *= static_cast<size_t>(size);
    }
    auto x = floats(sizes, std::vector<float>(numel, 1));
    ::testing::internal::CaptureStderr();
    EXPECT_NE(method->set_input(x.tensor(), input), Error::Ok);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(
      log_of(0, {2, 4}).find("Input image of method forward, dimension 1: expected 3, found 4"),
      std::string::npos);
  EXPECT_NE(
      log_of(1, {5}).find("Input state.hidden of method forward, dimension 0: expected 4, found 5"),
      std::string::npos);
  EXPECT_NE(log_of(1, {4, 1}).find("Input state.hidden: expected 1 dimensions, got 2"),
            std::string::npos);
}

// What others wrote there: read no further than it goes.
TEST_F(NamesTest, LinesOfAnyNumber) {
  for (const std::string lines : {"", "\n", "\n\n\n\n", "one", "one\n", "one\ntwo\nthree\nfour"}) {
    ProgramBuilder builder = named_program();
    fb::ExecutionPlanT& plan = builder.add_method("other").plan();
    plan.input_name_lines = lines;
    plan.output_dimensions = {0, 0};
    LoadedProgram program(builder.build());
    ASSERT_EQ(program.error(), Error::Ok);
    const auto meta = program->method_meta("other");
    EXPECT_EQ(meta->input_name(0), lines.substr(0, lines.find('\n')));
    EXPECT_EQ(meta->input_name(7), "");
    EXPECT_EQ(meta->output_name(0), "");
    EXPECT_EQ(meta->output_size_range(0, 0).error(), Error::InvalidArgument);
  }
}

// A name longer than messages have room for is cut, not written behind its room.
TEST_F(NamesTest, LongOnes) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  m.inputs({x}).outputs({x}).names({std::string(500, 'n')}, {""});
  LoadedProgram program(builder.build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->method_meta().input_name(0), std::string(500, 'n'));
  auto three = floats({3}, {1, 2, 3});
  EXPECT_NE(method->set_input(three.tensor(), 0), Error::Ok);
}

}  // namespace
}  // namespace executorch::runtime::testing
