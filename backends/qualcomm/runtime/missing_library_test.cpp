// SPDX-License-Identifier: BSD-3-Clause
// Libraries that are not there, or are others, in a program that has loaded none.
#include <executorch/backends/qualcomm/runtime/library.h>
#include <executorch/backends/qualcomm/runtime/qnn_backend.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

namespace executorch::backends::qualcomm {
namespace {

using runtime::Error;

class MissingLibraryTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }
};

TEST_F(MissingLibraryTest, EachNameThatWasTriedIsSaid) {
  const std::pair<const char*, const char*> wrong[] = {
      {"/there/is/none.so", "QNN's library was not loaded (/there/is/none.so: "},
      {"libm.so.6", "libm.so.6 is the SDK's, this build is for stand-ins"}};
  for (const auto& [path, expected] : wrong) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(find_library("libQnnHtp.so", path).ok());
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(expected), std::string::npos) << log;
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(find_system_library({"/there/is/libQnnHtp.so", "", {}}).error(), Error::NotFound);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("/there/is/libQnnSystem.so: "), std::string::npos) << log;
  EXPECT_NE(log.find("; libQnnSystem.so: "), std::string::npos) << log;
}

TEST_F(MissingLibraryTest, TheBackendIsNotAvailable) {
  const QnnBackend backend;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(backend.is_available());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("QNN's library was not loaded (libQnnHtp.so: "), std::string::npos) << log;
  EXPECT_NE(log.find("LD_LIBRARY_PATH"), std::string::npos) << log;
}

}  // namespace
}  // namespace executorch::backends::qualcomm
