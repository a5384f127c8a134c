// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/backend/default_options.h>

#include <gtest/gtest.h>

namespace {

using executorch::runtime::BackendOption;
using executorch::runtime::DefaultOptions;

TEST(DefaultOptions, KeepsTheNewestOfEachKey) {
  DefaultOptions options;
  options.set({"threads", 2});
  options.set({"fast", true});
  options.set({"threads", 4});
  ASSERT_EQ(options.all().size(), 2u);
  BackendOption asked[] = {{"threads", 0}, {"other", 7}};
  options.get({asked, 2});
  EXPECT_EQ(std::get<int>(asked[0].value), 4);
  EXPECT_EQ(std::get<int>(asked[1].value), 7);
  options.remove("threads");
  options.remove("other");
  ASSERT_EQ(options.all().size(), 1u);
  EXPECT_STREQ(options.all()[0].key, "fast");
}

}  // namespace
