// SPDX-License-Identifier: BSD-3-Clause
// FileDataSink: the bytes of recorded tensors in a file, one after the other.
#pragma once

#include <cstdio>

#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>

namespace executorch::etdump {

class FileDataSink final : public DataSinkBase {
 public:
  /// Makes the file, or empties it. AccessFailed when it cannot be written.
  static runtime::Result<FileDataSink> create(const char* file_path);

  FileDataSink(const FileDataSink&) = delete;
  FileDataSink& operator=(const FileDataSink&) = delete;
  FileDataSink(FileDataSink&& other) noexcept;
  FileDataSink& operator=(FileDataSink&& other) noexcept;
  ~FileDataSink() override;

  /// AccessFailed after close(); Internal when the disk takes less than all.
  runtime::Result<size_t> write(const void* ptr, size_t size) override;

  size_t get_used_bytes() const override { return used_; }

  /// Ends the file; later calls do nothing.
  void close();

 private:
  explicit FileDataSink(std::FILE* file) : file_(file) {}

  std::FILE* file_;
  size_t used_ = 0;
};

}  // namespace executorch::etdump
