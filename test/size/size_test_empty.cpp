// SPDX-License-Identifier: BSD-3-Clause
// What any program costs that reads a file.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace {

alignas(64) uint8_t file_bytes[1 << 20];

}  // namespace

int main(int argc, char** argv) {
  const int file = argc < 2 ? -1 : open(argv[1], O_RDONLY);
  const ssize_t size = file < 0 ? -1 : read(file, file_bytes, sizeof(file_bytes));
  return size < 0 ? 1 : file_bytes[size / 2];
}
