// SPDX-License-Identifier: BSD-3-Clause
// TempFile: a file for one test.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::testing {

/// Made by the constructor with the given contents and removed by the destructor. Failures fail the
/// running test.
class TempFile {
 public:
  explicit TempFile(const std::string& contents) : TempFile(contents.data(), contents.size()) {}
  TempFile(const void* data, size_t size) { create(0, data, size, size); }
  /// A file of `file_size` bytes, zeros but for `data` at `offset`; the zeros take no disk space.
  /// file_size >= offset + data.size().
  TempFile(size_t offset, const std::string& data, size_t file_size) {
    create(offset, data.data(), data.size(), file_size);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (!path_.empty()) {
      EXPECT_EQ(unlink(path_.c_str()), 0) << path_;
    }
  }

  const std::string& path() const { return path_; }

 private:
  // ASSERT_ macros need a function that returns nothing.
  void create(size_t offset, const void* data, size_t size, size_t file_size) {
    ASSERT_LE(size, file_size);
    ASSERT_LE(offset, file_size - size);
    const char* folder = std::getenv("TMPDIR");
    std::string path =
        std::string(folder != nullptr ? folder : "/tmp") + "/XXXXXX-executorch-testing";
    const int fd = mkstemps(path.data(), static_cast<int>(sizeof("-executorch-testing") - 1));
    ASSERT_GE(fd, 0) << path;
    path_ = path;
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(file_size)), 0);
    EXPECT_EQ(pwrite(fd, data, size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
    EXPECT_EQ(close(fd), 0);
  }

  std::string path_;
};

}  // namespace executorch::extension::testing

namespace executorch::runtime::testing {}

namespace torch::executor::testing {
using namespace ::executorch::runtime::testing;
using ::executorch::extension::testing::TempFile;
}  // namespace torch::executor::testing

// The historic spellings.
namespace torch::executor::testing {
using ::executorch::extension::testing::TempFile;
}  // namespace torch::executor::testing
