// SPDX-License-Identifier: BSD-3-Clause
// A file that a test writes and that goes with it.
#pragma once

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace tokenizers::test {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes, const std::string& name = "tokenizer") {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("tokenizers-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directory(folder_);
    add(name, bytes);
    path_ = folder_ / name;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }

  void add(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string path() const { return path_.string(); }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace tokenizers::test
