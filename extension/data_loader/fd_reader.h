// SPDX-License-Identifier: BSD-3-Clause
// Reading ranges of an open file: what the loaders on top of file descriptors share.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>

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

}  // namespace executorch::extension::internal
