// SPDX-License-Identifier: BSD-3-Clause
// A file that is written whole or not at all. POSIX only: there is no Windows port yet.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/log.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace executorch::extension {

/// Takes bytes for the file at `path`. What is there stays until commit(), after a crash or a
/// failure of power, too. Of one thread; others, and other processes, may write the same path, and
/// one of them wins.
class ReplacingFile final {
 public:
  explicit ReplacingFile(std::string path)
      : path_(std::move(path)),
        unfinished_(path_ + ".unfinished." + std::to_string(::getpid()) + "." +
                    std::to_string(next())),
        stream_(unfinished_, std::ios::binary | std::ios::trunc) {}

  ~ReplacingFile() {
    if (!is_committed_) {
      stream_.close();
      std::remove(unfinished_.c_str());
    }
  }
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  /// What fails here makes commit() fail.
  std::ostream& stream() { return stream_; }

  /// AccessFailed, with the path in the log, when not every byte is on the disk or nothing can be
  /// put at the path. Call it once.
  runtime::Error commit() {
    stream_.close();
    is_committed_ = !stream_.fail() && synchronize(unfinished_) &&
                    std::rename(unfinished_.c_str(), path_.c_str()) == 0;
    ET_CHECK_OR_RETURN_ERROR(is_committed_, AccessFailed,
                             "Cannot write %s: check that its folder exists, is writable and has "
                             "room",
                             path_.c_str());
    // Some file systems cannot, and keep the order by themselves.
    static_cast<void>(synchronize(folder_of(path_)));
    return runtime::Error::Ok;
  }

 private:
  static unsigned next() {
    static std::atomic<unsigned> count = 0;
    return count++;
  }

  /// Waits until what was written to a file, or renamed in a folder, is on the disk.
  static bool synchronize(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY);
    const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    return done;
  }

  static std::string folder_of(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }

  const std::string path_;
  const std::string unfinished_;
  std::ofstream stream_;
  bool is_committed_ = false;
};

}  // namespace executorch::extension
