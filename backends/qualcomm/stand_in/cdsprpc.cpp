// SPDX-License-Identifier: BSD-3-Clause
// A library in the place of libcdsprpc.so: memory with a file descriptor, which another library
// maps, too.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace {

struct Block {
  int fd;
  size_t size;
};

std::mutex mutex;
std::map<void*, Block>& blocks() {
  static std::map<void*, Block> all;
  return all;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* rpcmem_alloc(int, uint32_t, int size) {
  const int fd = memfd_create("rpcmem", 0);
  if (fd < 0 || size <= 0 || ftruncate(fd, size) != 0) {
    return nullptr;
  }
  void* data = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const std::lock_guard<std::mutex> lock(mutex);
  blocks()[data] = {fd, static_cast<size_t>(size)};
  return data;
}

void rpcmem_free(void* data) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = blocks().find(data);
  if (found != blocks().end()) {
    munmap(data, found->second.size);
    close(found->second.fd);
    blocks().erase(found);
  }
}

int rpcmem_to_fd(void* data) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = blocks().find(data);
  return found == blocks().end() ? -1 : found->second.fd;
}

}  // extern "C"
#pragma GCC visibility pop
