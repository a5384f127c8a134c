// SPDX-License-Identifier: BSD-3-Clause
// The program is in memory; inputs are ones.
#include <executorch/examples/arm/executor_runner/runner.h>

#include <algorithm>

#include <executorch/examples/raspberry_pi/pico2/hal.h>

using namespace executorch::runtime;

#ifdef PROGRAM_ADDRESS
namespace {
constexpr size_t kMaxBytes = size_t{256} << 20;  // a program says itself where it ends
}
Result<Span<const uint8_t>> program_bytes() {
  return Span<const uint8_t>(reinterpret_cast<const uint8_t*>(uintptr_t{PROGRAM_ADDRESS}),
                             kMaxBytes);
}
#else
extern "C" const uint8_t program_begin[], program_end[];
Result<Span<const uint8_t>> program_bytes() {
  return Span<const uint8_t>(program_begin, static_cast<size_t>(program_end - program_begin));
}
#endif

Error read_input(size_t, Span<uint8_t>) {
  return Error::NotFound;
}

namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kLine = 48;  // bytes that a line of text holds

/// Base64 (RFC 4648), at most kLine bytes.
void write_line(Span<const uint8_t> bytes) {
  char text[kLine / 3 * 4 + 2];
  char* next = text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(bytes.size() - i, 3);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? bytes[i + j] : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      *next++ = j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  *next++ = '\n';
  *next = '\0';
  hal_write(text);
}

}  // namespace

Error write_file(const char* name, Span<const uint8_t> bytes) {
  hal_write("#[RUN THIS]\nbase64 -d > ");
  hal_write(name);
  hal_write(" << EOF\n");
  for (size_t i = 0; i < bytes.size(); i += kLine) {
    write_line({bytes.data() + i, std::min(kLine, bytes.size() - i)});
  }
  hal_write("EOF\n#[END]\n");
  return Error::Ok;
}
Error write_output(size_t, Span<const uint8_t>) {
  return Error::Ok;
}
