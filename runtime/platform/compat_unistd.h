// SPDX-License-Identifier: BSD-3-Clause
// <unistd.h> for loaders; the same names on Windows.
#pragma once

#if !defined(_WIN32)
#include <unistd.h>
#else
#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <windows.h>

#include <executorch/runtime/platform/compiler.h>

#define O_RDONLY _O_RDONLY
#define open _open
#define close _close
#define read _read
#define write _write
#define stat _stat64
#define fstat _fstat64
#define off_t _off_t
#define lseek _lseeki64

/// Reads at `offset` without moving the file position. At most 2^31 - 1 bytes a call; -1 on
/// failure.
inline ssize_t pread(int fd, void* buf, size_t nbytes, size_t offset) {
  OVERLAPPED where = {};
  where.Offset = static_cast<DWORD>(offset);
  where.OffsetHigh = static_cast<DWORD>(static_cast<uint64_t>(offset) >> 32);
  const DWORD wanted = nbytes > 0x7FFFFFFF ? 0x7FFFFFFF : static_cast<DWORD>(nbytes);
  DWORD found = 0;
  const HANDLE file = reinterpret_cast<HANDLE>(_get_osfhandle(fd));
  if (!ReadFile(file, buf, wanted, &found, &where) && GetLastError() != ERROR_HANDLE_EOF) {
    return -1;
  }
  return static_cast<ssize_t>(found);
}
#endif
