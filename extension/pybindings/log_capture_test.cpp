// SPDX-License-Identifier: BSD-3-Clause
// Where messages of the runtime go when it runs under Python.
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::pybindings::LogCapture;
using executorch::extension::pybindings::RuntimeFailure;
using executorch::runtime::Error;

namespace {

std::string text_of(const LogCapture& capture, Error error) {
  try {
    capture.check(error, "Doing it");
  } catch (const RuntimeFailure& failure) {
    return failure.what();
  }
  return "";
}

class LogCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::extension::pybindings::route_messages();
    testing::internal::CaptureStderr();
  }
};

TEST_F(LogCaptureTest, MessagesThatNobodyCollectsGoToStderr) {
  RecordProperty("req", "PY-006");
  ET_LOG(Error, "number %d", 3);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("[log_capture_test.cpp:"), 0u) << text;
  EXPECT_NE(text.find("] number 3\n"), std::string::npos) << text;
}

TEST_F(LogCaptureTest, CollectedMessagesAreTheTextOfTheException) {
  const LogCapture capture;
  EXPECT_EQ(text_of(capture, Error::Ok), "");
  ET_LOG(Error, "first");
  ET_LOG(Error, "second");
  EXPECT_EQ(text_of(capture, Error::NotFound),
            "Doing it: Error::NotFound (0x20)\n  first\n  second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogCaptureTest, OnlyOfThisThreadAndOfTheInnermostCall) {
  const LogCapture outer;
  {
    const LogCapture inner;
    ET_LOG(Error, "inner");
    EXPECT_NE(text_of(inner, Error::Internal).find("inner"), std::string::npos);
  }
  std::thread([] { ET_LOG(Error, "elsewhere"); }).join();
  ET_LOG(Error, "outer");
  EXPECT_EQ(text_of(outer, Error::Internal), "Doing it: Error::Internal (0x01)\n  outer");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("elsewhere"), std::string::npos);
}

}  // namespace
