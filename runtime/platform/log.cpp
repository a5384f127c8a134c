// SPDX-License-Identifier: BSD-3-Clause
// Formatting of messages.
#include <executorch/runtime/platform/log.h>

#include <cstdio>

namespace executorch {
namespace runtime {
namespace internal {

et_timestamp_t get_log_timestamp() {
  return pal_current_ticks();
}

#if ET_LOG_ENABLED
namespace {

constexpr size_t kMaxMessage = 256;

et_pal_log_level_t to_pal_level(LogLevel level) {
  static constexpr et_pal_log_level_t kLevels[] = {kDebug, kInfo, kError, kFatal};
  return level < LogLevel::NumLevels ? kLevels[static_cast<size_t>(level)] : kUnknown;
}

// The longest prefix of at most `length` bytes that does not end inside a UTF-8 character.
size_t whole_characters(const char* text, size_t length) {
  size_t start = length;
  while (start > 0 && (static_cast<uint8_t>(text[start - 1]) & 0xC0) == 0x80) {
    --start;
  }
  if (start == 0) {
    return length;
  }
  const uint8_t lead = static_cast<uint8_t>(text[start - 1]);
  const size_t wanted = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  return length - (start - 1) < wanted ? start - 1 : length;
}

} // namespace

void vlogf(
    LogLevel level,
    et_timestamp_t timestamp,
    const char* filename,
    const char* function,
    size_t line,
    const char* format,
    va_list args) {
  char buffer[kMaxMessage];
  int written = std::vsnprintf(buffer, sizeof(buffer), format, args);
  size_t length = written < 0 ? 0 : static_cast<size_t>(written);
  if (length >= sizeof(buffer)) {
    length = whole_characters(buffer, sizeof(buffer) - 1);
  }
  buffer[length] = '\0';
  pal_emit_log_message(timestamp, to_pal_level(level), filename, function, line, buffer, length);
}
#else
void vlogf(
    LogLevel, et_timestamp_t, const char*, const char*, size_t, const char*, va_list) {}
#endif

void logf(
    LogLevel level,
    et_timestamp_t timestamp,
    const char* filename,
    const char* function,
    size_t line,
    const char* format,
    ...) {
  va_list args;
  va_start(args, format);
  vlogf(level, timestamp, filename, function, line, format, args);
  va_end(args);
}

} // namespace internal
} // namespace runtime
} // namespace executorch
