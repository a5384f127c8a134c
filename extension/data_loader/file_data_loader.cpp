// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_loader/file_data_loader.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

Result<FileDataLoader> FileDataLoader::from(const char* file_name, size_t alignment) {
  ET_CHECK_OK_OR_RETURN_ERROR(internal::check_alignment(alignment));
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr && file_name[0] != '\0', InvalidArgument,
                           "Expected a file name, got none");
  const int fd = ::open(file_name, O_RDONLY | O_CLOEXEC);
  ET_CHECK_OR_RETURN_ERROR(fd >= 0, AccessFailed, "Cannot open %s: %s", file_name,
                           std::strerror(errno));
  const Result<size_t> size = internal::get_file_size(fd);
  if (!size.ok()) {
    ET_LOG(Error, "Cannot load %s", file_name);
    ::close(fd);
    return size.error();
  }
  return FileDataLoader(fd, size.get(), alignment, file_name);
}

FileDataLoader::FileDataLoader(FileDataLoader&& rhs) noexcept
    : file_name_(std::move(rhs.file_name_)),
      file_size_(rhs.file_size_),
      alignment_(rhs.alignment_),
      fd_(rhs.fd_) {
  rhs.fd_ = -1;
}

FileDataLoader::~FileDataLoader() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Error FileDataLoader::check(size_t offset, size_t size) const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return internal::check_range(offset, size, file_size_);
}

Result<FreeableBuffer> FileDataLoader::load(size_t offset, size_t size,
                                            ET_UNUSED const SegmentInfo& segment_info) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  return internal::load_range(fd_, offset, size, alignment_);
}

Error FileDataLoader::load_into(size_t offset, size_t size,
                                ET_UNUSED const SegmentInfo& segment_info, void* buffer) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr || size == 0, InvalidArgument,
                           "Expected a buffer for %zu bytes", size);
  return internal::read_range(fd_, offset, size, buffer);
}

Result<size_t> FileDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return file_size_;
}

}  // namespace executorch::extension
