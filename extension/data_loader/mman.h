// SPDX-License-Identifier: BSD-3-Clause
// The few system calls around mmap(). POSIX only: there is no Windows port yet.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

#include <executorch/runtime/platform/compiler.h>

ET_INLINE long get_os_page_size() {
  return sysconf(_SC_PAGESIZE);
}

ET_INLINE off_t get_mmap_offset(size_t offset) {
  return static_cast<off_t>(offset);
}

// The result of fstat(); *out_size is the size of the file.
ET_INLINE int get_file_stat(int fd, size_t* out_size) {
  struct stat status;
  const int result = ::fstat(fd, &status);
  if (result == 0) {
    *out_size = static_cast<size_t>(status.st_size);
  }
  return result;
}

// Asks the system to read these pages ahead, in order.
ET_INLINE void madvise_pages_willneed_sequential(void* addr, size_t len) {
  ::madvise(addr, len, MADV_SEQUENTIAL);
  ::madvise(addr, len, MADV_WILLNEED);
}

// Asks Apple's systems to read the file ahead; nothing elsewhere.
ET_INLINE void fcntl_rdadvise_apple(ET_UNUSED int fd, ET_UNUSED size_t file_size) {
#if defined(__APPLE__)
  struct radvisory advice;
  advice.ra_offset = 0;
  advice.ra_count = static_cast<int>(file_size);
  ::fcntl(fd, F_RDADVISE, &advice);
#endif
}
