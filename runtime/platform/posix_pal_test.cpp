// SPDX-License-Identifier: BSD-3-Clause
// The default platform: where messages go and what they look like.
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

TEST(PosixPlatformTest, LogsOneLineToStderr) {
  RecordProperty("req", "RT-035 RT-039");
  executorch::runtime::runtime_init();
  ::testing::internal::CaptureStderr();
  ET_LOG(Error, "loaded %d", 7);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(
      std::regex_match(line, std::regex("E [0-9]{2}:[0-5][0-9]:[0-5][0-9]\\.[0-9]{6} "
                                        "executorch:posix_pal_test\\.cpp:[0-9]+\\] loaded 7\n")))
      << line;
}

TEST(PosixPlatformTest, TimeIsPrintedAsHoursMinutesSecondsMicroseconds) {
  ::testing::internal::CaptureStderr();
  const et_timestamp_t ticks = ((25ull * 3600 + 3 * 60 + 4) * 1000000 + 43703) * 1000 + 999;
  et_pal_emit_log_message(ticks, kInfo, "a.cpp", "f", 379, "text", 4);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "I 25:03:04.043703 executorch:a.cpp:379] text\n");
}

TEST(PosixPlatformTest, AbortSaysWhichCheckFailed) {
  EXPECT_DEATH(
      ET_CHECK_MSG(1 > 2, "value %d", 5),
      "F .*posix_pal_test.cpp:.*In function TestBody\\(\\), assert failed \\(1 > 2\\): value 5");
  EXPECT_DEATH(ET_CHECK(1 > 2), "In function TestBody\\(\\), assert failed: 1 > 2");
}

}  // namespace
