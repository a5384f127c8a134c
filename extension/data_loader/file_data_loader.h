// SPDX-License-Identifier: BSD-3-Clause
// Reads a file into memory, range by range.
#pragma once

#include <cstddef>
#include <string>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// Threads: load() and load_into() may be called at the same time. The file stays open as long as
// the loader lives, and must not become shorter.
class FileDataLoader final : public executorch::runtime::DataLoader {
 public:
  // Opens the file. Loaded buffers are aligned to `alignment`.
  //   InvalidArgument  empty name, or an alignment that is not a power of two
  //   AccessFailed     the file cannot be opened
  static executorch::runtime::Result<FileDataLoader> from(
      const char* file_name, size_t alignment = alignof(std::max_align_t));

  ET_DEPRECATED static executorch::runtime::Result<FileDataLoader> From(
      const char* file_name, size_t alignment = alignof(std::max_align_t)) {
    return from(file_name, alignment);
  }

  // The moved-from loader gives InvalidState.
  FileDataLoader(FileDataLoader&& rhs) noexcept;
  FileDataLoader(const FileDataLoader&) = delete;
  FileDataLoader& operator=(const FileDataLoader&) = delete;
  FileDataLoader& operator=(FileDataLoader&&) = delete;
  ~FileDataLoader() override;

  // InvalidArgument outside the file, AccessFailed if it cannot be read, MemoryAllocationFailed.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override;

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

 private:
  FileDataLoader(int fd, size_t file_size, size_t alignment, std::string file_name)
      : file_name_(std::move(file_name)), file_size_(file_size), alignment_(alignment), fd_(fd) {}

  executorch::runtime::Error check(size_t offset, size_t size) const;

  std::string file_name_;
  size_t file_size_;
  size_t alignment_;
  int fd_;  // -1 when moved from
};

}  // namespace executorch::extension
