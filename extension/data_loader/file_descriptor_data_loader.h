// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that someone else opened, named by a URI: what Android hands out for content it
// guards.
#pragma once

#include <cstddef>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension {

// Threads, lifetime and errors of loading are those of internal::FdDataLoader.
class FileDescriptorDataLoader final : public internal::FdDataLoader {
 public:
  // The URI has the form fd:///<number>. The loader owns the descriptor from here on and closes it,
  // unless this fails.
  //   InvalidArgument  not of this form, or an alignment that is not a power of two
  //   AccessFailed     no open regular file
  static executorch::runtime::Result<FileDescriptorDataLoader> fromFileDescriptorUri(
      const char* file_descriptor_uri, size_t alignment = alignof(std::max_align_t));

 private:
  FileDescriptorDataLoader(int fd, size_t file_size, size_t alignment)
      : FdDataLoader(fd, file_size, alignment) {}
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::FileDescriptorDataLoader;
}  // namespace torch::executor::util
