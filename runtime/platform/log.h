// SPDX-License-Identifier: BSD-3-Clause
// Logging. ET_LOG(Error, "format", ...) formats like printf and hands the message to the platform.
//
// ET_LOG_ENABLED=0      no message text is compiled in; arguments are checked but not evaluated
// ET_MIN_LOG_LEVEL=Info calls below this level are compiled out in the same way
// Neither changes control flow. Any thread may log at any time.
#pragma once

#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/platform.h>

#ifndef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#endif

#ifndef ET_LOG_ENABLED
#define ET_LOG_ENABLED 1
#endif

#ifndef PRId64
#define PRId64 "lld"
#endif
#ifndef PRIu64
#define PRIu64 "llu"
#endif

namespace executorch {
namespace runtime {

enum class LogLevel : uint8_t {
  Debug,
  Info,
  Error,
  Fatal,
  NumLevels,
};

namespace internal {

/// Time of a message, in the platform's ticks.
et_timestamp_t get_log_timestamp();

/// Formats into 255 bytes at most, cut at a whole UTF-8 character, and emits.
ET_PRINTFLIKE(6, 0)
void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
           size_t line, const char* format, std::va_list args);

/// What ET_LOG calls: vlogf() at the present time. `place` is level_and_line(). Few arguments: a
/// small program has hundreds of calls.
ET_PRINTFLIKE(4, 5)
void log_at(uint32_t place, const char* filename, const char* function, const char* format, ...);

/// The level in the upper byte, the line in the others.
constexpr uint32_t level_and_line(LogLevel level, uint32_t line) {
  return static_cast<uint32_t>(level) << 24 | (line & 0xFFFFFF);
}

// Arguments instead of the macros: files of one program may have different settings.
constexpr bool is_log_level_compiled_in(LogLevel level, bool is_enabled, LogLevel min_level) {
  return is_enabled && level >= min_level;
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch

/// Whether ET_LOG of this level does something.
#define ET_IS_LOGGED(_level)                                   \
  (::executorch::runtime::internal::is_log_level_compiled_in(  \
      ::executorch::runtime::LogLevel::_level, ET_LOG_ENABLED, \
      ::executorch::runtime::LogLevel::ET_MIN_LOG_LEVEL))

#define ET_LOG(_level, _format, ...)                                                               \
  do {                                                                                             \
    if constexpr (ET_IS_LOGGED(_level)) {                                                          \
      ::executorch::runtime::internal::log_at(                                                     \
          ::executorch::runtime::internal::level_and_line(::executorch::runtime::LogLevel::_level, \
                                                          ET_LINE),                                \
          ET_SHORT_FILENAME, ET_FUNCTION, _format, ##__VA_ARGS__);                                 \
    }                                                                                              \
  } while (0)

/// Logs when the condition does not hold, and goes on.
#define ET_CHECK_OR_LOG_ERROR(_condition, _format, ...) \
  do {                                                  \
    if (!(_condition)) {                                \
      ET_LOG(Error, _format, ##__VA_ARGS__);            \
    }                                                   \
  } while (0)

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::LogLevel;
}  // namespace torch::executor
