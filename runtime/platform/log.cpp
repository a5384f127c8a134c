// SPDX-License-Identifier: BSD-3-Clause
// Formatting of log messages.
#include <executorch/runtime/platform/log.h>

#include <cstdio>

#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace runtime {
namespace internal {

namespace {

constexpr size_t kMaxLogMessageLength = 256;

et_pal_log_level_t level_letter(LogLevel level) {
  constexpr et_pal_log_level_t kLetters[] = {kDebug, kInfo, kError, kFatal};
  const size_t index = static_cast<size_t>(level);
  return index < static_cast<size_t>(LogLevel::NumLevels) ? kLetters[index] : kUnknown;
}

// The longest prefix of the first `length` bytes that does not end within a UTF-8 character.
size_t whole_characters(const char* text, size_t length) {
  size_t start = length;
  while (start > 0 && length - start < 3 && (text[start - 1] & 0xC0) == 0x80) {
    --start;
  }
  if (start == 0) {
    return length;
  }
  const unsigned char lead = static_cast<unsigned char>(text[start - 1]);
  const size_t expected = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  const size_t found = length - start + 1;
  return expected > found ? start - 1 : length;
}

}  // namespace

et_timestamp_t get_log_timestamp() {
  return pal_current_ticks();
}

void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
           size_t line, const char* format, std::va_list args) {
  char message[kMaxLogMessageLength];
  const int written = std::vsnprintf(message, sizeof(message), format, args);
  size_t length = written > 0 ? static_cast<size_t>(written) : 0;
  if (length >= sizeof(message)) {
    length = whole_characters(message, sizeof(message) - 1);
  }
  message[length] = '\0';
  pal_emit_log_message(timestamp, level_letter(level), filename, function, line, message, length);
}

void log_at(uint32_t place, const char* filename, const char* function, const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  vlogf(static_cast<LogLevel>(place >> 24), get_log_timestamp(), filename, function,
        place & 0xFFFFFF, format, args);
  va_end(args);
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
