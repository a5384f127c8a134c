// SPDX-License-Identifier: BSD-3-Clause
// The annotation macros, historic names and small headers of the platform layer.
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/compat_unistd.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/profiler.h>
#include <executorch/runtime/platform/system.h>

#include <type_traits>

#include <gtest/gtest.h>

namespace {

struct [[maybe_unused]] Annotated {
  ET_DEPRECATED void old_function() {}
  ET_EXPERIMENTAL void new_function() {}
  ET_NODISCARD int result() { return 1; }
};
ET_NOINLINE int not_inlined(ET_UNUSED int ignored) {
  return 2;
}
ET_INLINE int inlined() {
  return 3;
}

TEST(AnnotationsTest, Compile) {
  RecordProperty("req", "RT-042");
  Annotated annotated;
  EXPECT_EQ(annotated.result() + not_inlined(0) + inlined(), 6);
  EXPECT_TRUE(ET_LIKELY(1 == 1));
  EXPECT_FALSE(ET_UNLIKELY(1 == 2));
  EXPECT_STREQ(ET_SHORT_FILENAME, "annotations_test.cpp");
  const uint32_t token = EXECUTORCH_BEGIN_PROF("name");
  EXECUTORCH_END_PROF(token);
  EXPECT_STREQ(et_pal_get_shared_library_name(nullptr), DYNAMIC_LIBRARY_NOT_SUPPORTED);
}

TEST(HistoricNamesTest, AreTheSameEntities) {
  RecordProperty("req", "RT-C02");
  static_assert(std::is_same_v<torch::executor::Error, executorch::runtime::Error>);
  static_assert(std::is_same_v<torch::executor::Tensor, executorch::runtime::etensor::Tensor>);
  static_assert(std::is_same_v<exec_aten::Tensor, executorch::aten::Tensor>);
  static_assert(std::is_same_v<torch::executor::ArrayRef<int>, executorch::aten::ArrayRef<int>>);
  EXPECT_EQ(torch::executor::Error::InvalidProgram, executorch::runtime::Error::InvalidProgram);
}

}  // namespace
