// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_loader/mmap_data_loader.h>

#include <cerrno>
#include <cstring>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/extension/data_loader/mman.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

namespace {

// The mapping starts at the page that `data` lies in. The context is the page size.
void unmap(void* context, void* data, size_t size) {
  const uintptr_t page_size = reinterpret_cast<uintptr_t>(context);
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t inset = address & (page_size - 1);
  if (::munmap(reinterpret_cast<void*>(address - inset), size + inset) != 0) {
    ET_LOG(Error, "Cannot unmap %zu bytes: %s", size, std::strerror(errno));
  }
}

}  // namespace

Result<MmapDataLoader> MmapDataLoader::from(const char* file_name, MlockConfig mlock_config) {
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "Expected a file name, got none");
  const long page_size = get_os_page_size();
  ET_CHECK_OR_RETURN_ERROR(page_size > 0 && (page_size & (page_size - 1)) == 0, AccessFailed,
                           "The system's page size, %ld, is not a power of two", page_size);
  const int fd = ::open(file_name, O_RDONLY | O_CLOEXEC);
  ET_CHECK_OR_RETURN_ERROR(fd >= 0, AccessFailed, "Cannot open %s: %s", file_name,
                           std::strerror(errno));
  const Result<size_t> size = internal::get_file_size(fd);
  if (!size.ok()) {
    ET_LOG(Error, "Cannot map %s", file_name);
    ::close(fd);
    return size.error();
  }
  return MmapDataLoader(fd, size.get(), static_cast<size_t>(page_size), mlock_config, file_name);
}

MmapDataLoader::MmapDataLoader(MmapDataLoader&& rhs) noexcept
    : file_name_(std::move(rhs.file_name_)),
      file_size_(rhs.file_size_),
      page_size_(rhs.page_size_),
      fd_(rhs.fd_),
      mlock_config_(rhs.mlock_config_) {
  rhs.fd_ = -1;
}

MmapDataLoader::~MmapDataLoader() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Error MmapDataLoader::check(size_t offset, size_t size) const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return internal::check_range(offset, size, file_size_);
}

Error MmapDataLoader::lock_or_advise(void* pages, size_t size) const {
  switch (mlock_config_) {
    case MlockConfig::NoMlock:
      return Error::Ok;
    case MlockConfig::UseMadvise:
      madvise_pages_willneed_sequential(pages, size);
      fcntl_rdadvise_apple(fd_, file_size_);
      return Error::Ok;
    case MlockConfig::UseMlockIgnoreErrors:
      if (::mlock(pages, size) != 0) {
        ET_LOG(Debug, "Not locked: %zu bytes of %s", size, file_name_.c_str());
      }
      return Error::Ok;
    case MlockConfig::UseMlock:
      break;
  }
  ET_CHECK_OR_RETURN_ERROR(::mlock(pages, size) == 0, NotSupported,
                           "Cannot lock %zu bytes of %s in memory: %s. Raise the limit (ulimit -l) "
                           "or load without mlock",
                           size, file_name_.c_str(), std::strerror(errno));
  return Error::Ok;
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size,
                                            ET_UNUSED const SegmentInfo& segment_info) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  if (size == 0) {
    return FreeableBuffer(nullptr, 0, nullptr);
  }
  // Inside the file, whose size plus a page fits: nothing here can wrap.
  const size_t inset = offset & (page_size_ - 1);
  const size_t mapped_size = size + inset;
  void* pages =
      ::mmap(nullptr, mapped_size, PROT_READ, MAP_PRIVATE, fd_, get_mmap_offset(offset - inset));
  ET_CHECK_OR_RETURN_ERROR(pages != MAP_FAILED, AccessFailed,
                           "Cannot map %zu bytes at offset %zu of %s: %s", size, offset,
                           file_name_.c_str(), std::strerror(errno));
  const Error error = lock_or_advise(pages, mapped_size);
  if (error != Error::Ok) {
    ::munmap(pages, mapped_size);
    return error;
  }
  return FreeableBuffer(static_cast<const uint8_t*>(pages) + inset, size, unmap,
                        reinterpret_cast<void*>(page_size_));
}

Error MmapDataLoader::load_into(size_t offset, size_t size,
                                ET_UNUSED const SegmentInfo& segment_info, void* buffer) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr || size == 0, InvalidArgument,
                           "Expected a buffer for %zu bytes", size);
  return internal::read_range(fd_, offset, size, buffer);
}

Result<size_t> MmapDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(fd_ >= 0, InvalidState, "The loader was moved from");
  return file_size_;
}

}  // namespace executorch::extension
