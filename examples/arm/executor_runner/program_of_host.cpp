// SPDX-License-Identifier: BSD-3-Clause
// The program and its inputs are files of the host, by semihosting:
//   arm_executor_runner -m model.pte [-i input.bin ...] -o base
// writes the outputs as base-0.bin, base-1.bin and so on, and what it records as files, too.
#include <executorch/examples/arm/executor_runner/runner.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include <executorch/runtime/platform/log.h>

using namespace executorch::runtime;

namespace {

constexpr size_t kMaxWords = 32;
constexpr size_t kLine = 256;  // the most that semihosting gives

enum Operation : intptr_t {
  kOpen = 1,
  kClose = 2,
  kWrite = 5,
  kRead = 6,
  kLength = 12,
  kLineOf = 21
};
enum Mode : uintptr_t { kReadBytes = 1, kWriteBytes = 5 };

alignas(16) [[gnu::section(".bss.input_data_sec")]] uint8_t files[FILE_POOL_BYTES];
char line[kLine];
const char* input_paths[kMaxWords];
size_t num_inputs = 0;
const char* model_path = nullptr;
const char* output_base = nullptr;

intptr_t semihost(Operation operation, const void* argument) {
  register intptr_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

intptr_t open_file(const char* path, Mode mode) {
  const uintptr_t words[] = {reinterpret_cast<uintptr_t>(path), mode, std::strlen(path)};
  return semihost(kOpen, words);
}

void close_file(intptr_t file) {
  const uintptr_t words[] = {static_cast<uintptr_t>(file)};
  semihost(kClose, words);
}

/// All of a file, which must have `bytes.size()` bytes, or fit when `is_most`. The number of bytes.
Result<size_t> read_file(const char* path, Span<uint8_t> bytes, bool is_most) {
  const intptr_t file = open_file(path, kReadBytes);
  ET_CHECK_OR_RETURN_ERROR(file >= 0, AccessFailed, "%s: cannot be opened", path);
  const uintptr_t of_length[] = {static_cast<uintptr_t>(file)};
  const auto size = static_cast<size_t>(semihost(kLength, of_length));
  const bool fits = is_most ? size <= bytes.size() : size == bytes.size();
  intptr_t left = -1;
  if (fits) {
    const uintptr_t words[] = {static_cast<uintptr_t>(file),
                               reinterpret_cast<uintptr_t>(bytes.data()), size};
    left = semihost(kRead, words);
  }
  close_file(file);
  ET_CHECK_OR_RETURN_ERROR(fits, InvalidArgument, "%s: expected %" PRIu32 " bytes, found %" PRIu32,
                           path, static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(size));
  ET_CHECK_OR_RETURN_ERROR(left == 0, AccessFailed, "%s: cannot be read", path);
  return size;
}

/// Takes the command line apart.
Error read_line() {
  uintptr_t words[] = {reinterpret_cast<uintptr_t>(line), kLine};
  ET_CHECK_OR_RETURN_ERROR(semihost(kLineOf, words) == 0, InvalidArgument,
                           "a command line of at most %d characters is expected",
                           static_cast<int>(kLine));
  const char* flag = nullptr;
  for (const char* word = std::strtok(line, " "); word != nullptr;
       word = std::strtok(nullptr, " ")) {
    if (flag == nullptr) {
      flag = word[0] == '-' ? word : nullptr;  // the first word is the program's name
      continue;
    }
    if (std::strcmp(flag, "-m") == 0) {
      model_path = word;
    } else if (std::strcmp(flag, "-o") == 0) {
      output_base = word;
    } else if (std::strcmp(flag, "-i") == 0 && num_inputs < kMaxWords) {
      input_paths[num_inputs++] = word;
    } else {
      ET_LOG(Error, "%s: expected -m model.pte, -i input.bin or -o base", flag);
      return Error::InvalidArgument;
    }
    flag = nullptr;
  }
  ET_CHECK_OR_RETURN_ERROR(model_path != nullptr, InvalidArgument, "expected -m model.pte");
  return Error::Ok;
}

}  // namespace

Result<Span<const uint8_t>> program_bytes() {
  ET_CHECK_OK_OR_RETURN_ERROR(read_line());
  const size_t size = ET_UNWRAP(read_file(model_path, {files, sizeof(files)}, true));
  return Span<const uint8_t>(files, size);
}

Error read_input(size_t index, Span<uint8_t> input) {
  if (num_inputs == 0) {
    return Error::NotFound;
  }
  ET_CHECK_OR_RETURN_ERROR(index < num_inputs, InvalidArgument, "input %d: expected -i for each",
                           static_cast<int>(index));
  return read_file(input_paths[index], input, false).error();
}

Error write_output(size_t index, Span<const uint8_t> output) {
  if (output_base == nullptr) {
    return Error::Ok;
  }
  char path[kLine + 16];
  std::snprintf(path, sizeof(path), "%s-%d.bin", output_base, static_cast<int>(index));
  return write_file(path, output);
}

Error write_file(const char* name, Span<const uint8_t> bytes) {
  const intptr_t file = open_file(name, kWriteBytes);
  ET_CHECK_OR_RETURN_ERROR(file >= 0, AccessFailed, "%s: cannot be written", name);
  const uintptr_t words[] = {static_cast<uintptr_t>(file),
                             reinterpret_cast<uintptr_t>(bytes.data()), bytes.size()};
  const intptr_t left = semihost(kWrite, words);
  close_file(file);
  ET_CHECK_OR_RETURN_ERROR(left == 0, AccessFailed, "%s: cannot be written", name);
  return Error::Ok;
}
