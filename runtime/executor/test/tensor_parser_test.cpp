// SPDX-License-Identifier: BSD-3-Clause
// What the header of the parser brings: complete types, without another header.
#include <executorch/runtime/executor/tensor_parser.h>

#include <gtest/gtest.h>

namespace {

using executorch::runtime::MethodMeta;
using executorch::runtime::Program;

static_assert(sizeof(Program) > 0 && sizeof(MethodMeta) > 0);

TEST(TensorParserTest, ProgramsAreLoadedWithoutItsOwnHeader) {
  EXPECT_EQ(Program::load(nullptr, Program::Verification::Minimal).error(),
            executorch::runtime::Error::InvalidArgument);
}

}  // namespace
