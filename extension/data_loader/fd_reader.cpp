// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_loader/fd_reader.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <executorch/runtime/platform/log.h>

namespace executorch::extension::internal {

using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

namespace {

// The context is the alignment: a null pointer would do for a buffer that nobody frees.
void free_aligned(void* context, void* data, size_t /*size*/) {
  ::operator delete(data, std::align_val_t(reinterpret_cast<uintptr_t>(context)));
}

}  // namespace

Error check_range(size_t offset, size_t size, size_t file_size) {
  ET_CHECK_OR_RETURN_ERROR(
      size <= file_size && offset <= file_size - size, InvalidArgument,
      "Expected a range inside the %zu bytes of the file, got %zu bytes at offset %zu", file_size,
      size, offset);
  return Error::Ok;
}

Error check_alignment(size_t alignment) {
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "Expected an alignment that is a power of two, got %zu", alignment);
  return Error::Ok;
}

Result<size_t> get_file_size(int fd) {
  struct stat status;
  ET_CHECK_OR_RETURN_ERROR(::fstat(fd, &status) == 0, AccessFailed,
                           "Cannot ask for the size of file descriptor %d: %s", fd,
                           std::strerror(errno));
  ET_CHECK_OR_RETURN_ERROR(S_ISREG(status.st_mode), AccessFailed,
                           "File descriptor %d is not that of a regular file", fd);
  return static_cast<size_t>(status.st_size);
}

Error read_range(int fd, size_t offset, size_t size, void* buffer) {
  constexpr size_t kMaxRead = size_t(1) << 30;
  char* out = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(fd, out, std::min(size, kMaxRead), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(count > 0, AccessFailed, "Cannot read %zu bytes at offset %zu: %s",
                             size, offset,
                             count == 0 ? "the file has become shorter" : std::strerror(errno));
    out += count;
    offset += static_cast<size_t>(count);
    size -= static_cast<size_t>(count);
  }
  return Error::Ok;
}

Result<FreeableBuffer> load_range(int fd, size_t offset, size_t size, size_t alignment) {
  if (size == 0) {
    return FreeableBuffer(nullptr, 0, nullptr);
  }
  void* data = ::operator new(size, std::align_val_t(alignment), std::nothrow);
  ET_CHECK_OR_RETURN_ERROR(data != nullptr, MemoryAllocationFailed,
                           "No memory for %zu bytes of the file", size);
  FreeableBuffer buffer(data, size, free_aligned, reinterpret_cast<void*>(alignment));
  ET_CHECK_OK_OR_RETURN_ERROR(read_range(fd, offset, size, data));
  return Result<FreeableBuffer>(std::move(buffer));
}

FdDataLoader::FdDataLoader(FdDataLoader&& rhs) noexcept
    : file_size_(rhs.file_size_), alignment_(rhs.alignment_), fd_(rhs.fd_) {
  rhs.fd_ = -1;
}

FdDataLoader::~FdDataLoader() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Error FdDataLoader::check(size_t offset, size_t size) const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return check_range(offset, size, file_size_);
}

Result<FreeableBuffer> FdDataLoader::load(size_t offset, size_t size,
                                          ET_UNUSED const SegmentInfo& segment_info) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  return load_range(fd_, offset, size, alignment_);
}

Error FdDataLoader::load_into(size_t offset, size_t size, ET_UNUSED const SegmentInfo& segment_info,
                              void* buffer) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr || size == 0, InvalidArgument,
                           "Expected a buffer for %zu bytes", size);
  return read_range(fd_, offset, size, buffer);
}

Result<size_t> FdDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return file_size_;
}

}  // namespace executorch::extension::internal
