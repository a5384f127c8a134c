// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that someone else opened, named by a URI: what Android hands out for content it
// guards.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// Threads: load() and load_into() may be called at the same time. The file stays open as long as
// the loader lives, and must not become shorter.
class FileDescriptorDataLoader final : public executorch::runtime::DataLoader {
 public:
  // The URI has the form fd:///<number>. The loader owns the descriptor from here on and closes it,
  // unless this fails.
  //   InvalidArgument  not of this form, or an alignment that is not a power of two
  //   AccessFailed     no open regular file
  static executorch::runtime::Result<FileDescriptorDataLoader> fromFileDescriptorUri(
      const char* file_descriptor_uri, size_t alignment = alignof(std::max_align_t));

  // The moved-from loader gives InvalidState.
  FileDescriptorDataLoader(FileDescriptorDataLoader&& rhs) noexcept;
  FileDescriptorDataLoader(const FileDescriptorDataLoader&) = delete;
  FileDescriptorDataLoader& operator=(const FileDescriptorDataLoader&) = delete;
  FileDescriptorDataLoader& operator=(FileDescriptorDataLoader&&) = delete;
  ~FileDescriptorDataLoader() override;

  // InvalidArgument outside the file, AccessFailed if it cannot be read, MemoryAllocationFailed.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override;

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

 private:
  FileDescriptorDataLoader(int fd, size_t file_size, size_t alignment)
      : file_size_(file_size), alignment_(alignment), fd_(fd) {}

  executorch::runtime::Error check(size_t offset, size_t size) const;

  size_t file_size_;
  size_t alignment_;
  int fd_;  // -1 when moved from
};

}  // namespace executorch::extension
