// SPDX-License-Identifier: BSD-3-Clause
// Reads a file into memory, range by range.
#pragma once

#include <cstddef>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// Threads, lifetime and errors of loading are those of internal::FdDataLoader.
class FileDataLoader final : public internal::FdDataLoader {
 public:
  // Opens the file. Loaded buffers are aligned to `alignment`.
  //   InvalidArgument  no name, or an alignment that is not a power of two
  //   AccessFailed     the file cannot be opened
  static executorch::runtime::Result<FileDataLoader> from(
      const char* file_name, size_t alignment = alignof(std::max_align_t));

  ET_DEPRECATED static executorch::runtime::Result<FileDataLoader> From(
      const char* file_name, size_t alignment = alignof(std::max_align_t)) {
    return from(file_name, alignment);
  }

 private:
  FileDataLoader(int fd, size_t file_size, size_t alignment)
      : FdDataLoader(fd, file_size, alignment) {}
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::FileDataLoader;
}  // namespace torch::executor::util
