// SPDX-License-Identifier: BSD-3-Clause
// Reading ranges of an open file: what the loaders on top of file descriptors share, and the loader
// that two of them are.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::internal {

// InvalidArgument unless bytes [offset, offset + size) lie in a file of `file_size` bytes.
ET_NODISCARD executorch::runtime::Error check_range(size_t offset, size_t size, size_t file_size);

// InvalidArgument unless the alignment is a power of two.
ET_NODISCARD executorch::runtime::Error check_alignment(size_t alignment);

// Bytes in the file behind `fd`. AccessFailed if it cannot be asked or is no regular file.
ET_NODISCARD executorch::runtime::Result<size_t> get_file_size(int fd);

// Reads exactly these bytes; the range was checked. AccessFailed if the file gives fewer. Does not
// move the file position, so that several threads may read at the same time.
ET_NODISCARD executorch::runtime::Error read_range(int fd, size_t offset, size_t size,
                                                   void* buffer);

// As read_range(), into new memory that the returned buffer owns. A size of 0 gives an empty
// buffer.
ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load_range(
    int fd, size_t offset, size_t size, size_t alignment);

// Loads ranges of an open file, which it owns, into new memory.
// Threads: load() and load_into() may be called at the same time. The file stays open as long as
// the loader lives, and must not become shorter.
class FdDataLoader : public executorch::runtime::DataLoader {
 public:
  // The moved-from loader gives InvalidState.
  FdDataLoader(FdDataLoader&& rhs) noexcept;
  FdDataLoader(const FdDataLoader&) = delete;
  FdDataLoader& operator=(const FdDataLoader&) = delete;
  FdDataLoader& operator=(FdDataLoader&&) = delete;
  ~FdDataLoader() override;

  // InvalidArgument outside the file, AccessFailed if it cannot be read, MemoryAllocationFailed.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override;

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

 protected:
  FdDataLoader(int fd, size_t file_size, size_t alignment)
      : file_size_(file_size), alignment_(alignment), fd_(fd) {}

 private:
  executorch::runtime::Error check(size_t offset, size_t size) const;

  size_t file_size_;
  size_t alignment_;
  int fd_;  // -1 when moved from
};

}  // namespace executorch::extension::internal
