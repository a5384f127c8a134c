// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_loader/file_data_loader.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::runtime::Result;

Result<FileDataLoader> FileDataLoader::from(const char* file_name, size_t alignment) {
  ET_CHECK_OK_OR_RETURN_ERROR(internal::check_alignment(alignment));
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "Expected a file name, got none");
  const int fd = ::open(file_name, O_RDONLY | O_CLOEXEC);
  ET_CHECK_OR_RETURN_ERROR(fd >= 0, AccessFailed, "Cannot open %s: %s", file_name,
                           std::strerror(errno));
  const Result<size_t> size = internal::get_file_size(fd);
  if (!size.ok()) {
    ET_LOG(Error, "Cannot load %s", file_name);
    ::close(fd);
    return size.error();
  }
  return FileDataLoader(fd, size.get(), alignment);
}

}  // namespace executorch::extension
