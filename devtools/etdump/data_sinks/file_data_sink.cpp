// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <executorch/runtime/platform/log.h>

namespace executorch::etdump {

using runtime::Error;
using runtime::Result;

Result<FileDataSink> FileDataSink::create(const char* file_path) {
  std::FILE* const file = std::fopen(file_path, "wb");
  ET_CHECK_OR_RETURN_ERROR(file != nullptr, AccessFailed, "Cannot write %s: %s", file_path,
                           std::strerror(errno));
  return FileDataSink(file);
}

FileDataSink::FileDataSink(FileDataSink&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)), used_(std::exchange(other.used_, 0)) {}

FileDataSink& FileDataSink::operator=(FileDataSink&& other) noexcept {
  if (this != &other) {
    close();
    file_ = std::exchange(other.file_, nullptr);
    used_ = std::exchange(other.used_, 0);
  }
  return *this;
}

FileDataSink::~FileDataSink() {
  close();
}

Result<size_t> FileDataSink::write(const void* ptr, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(file_ != nullptr, AccessFailed, "The file of tensors is closed");
  const size_t offset = used_;
  if (size == 0) {
    return offset;
  }
  const size_t written = std::fwrite(ptr, 1, size, file_);
  used_ += written;
  ET_CHECK_OR_RETURN_ERROR(written == size, Internal, "Wrote %zu of %zu bytes of a tensor: %s",
                           written, size, std::strerror(errno));
  return offset;
}

void FileDataSink::close() {
  if (file_ != nullptr) {
    std::fclose(file_);
    file_ = nullptr;
  }
}

}  // namespace executorch::etdump
