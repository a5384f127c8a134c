// SPDX-License-Identifier: BSD-3-Clause
// ET_LOG(Level, "format", ...): messages through the platform layer.
//   ET_LOG_ENABLED=0 removes all text; ET_MIN_LOG_LEVEL is the least severe level that is compiled in. Release builds keep
//   Error and Fatal. Portable formats only: PRId64 and friends, %zu, %zd, %s, %d, %f.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/platform.h>

#include <cinttypes>
#include <cstdarg>

#ifndef ET_LOG_ENABLED
#define ET_LOG_ENABLED 1
#endif

#ifndef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#endif

namespace executorch {
namespace runtime {

enum class LogLevel : uint8_t { Debug, Info, Error, Fatal, NumLevels };

namespace internal {

et_timestamp_t get_log_timestamp();

/// Formats into a buffer of 256 bytes, cut at a whole UTF-8 character, and hands it to the platform.
ET_PRINTFLIKE(6, 0)
void vlogf(
    LogLevel level,
    et_timestamp_t timestamp,
    const char* filename,
    const char* function,
    size_t line,
    const char* format,
    va_list args);

ET_PRINTFLIKE(6, 7)
void logf(
    LogLevel level,
    et_timestamp_t timestamp,
    const char* filename,
    const char* function,
    size_t line,
    const char* format,
    ...);

} // namespace internal
} // namespace runtime
} // namespace executorch

#if ET_LOG_ENABLED
#define ET_LOG(_level, _format, ...)                                                       \
  do {                                                                                     \
    if constexpr (                                                                         \
        ::executorch::runtime::LogLevel::_level >=                                         \
        ::executorch::runtime::LogLevel::ET_MIN_LOG_LEVEL) {                               \
      ::executorch::runtime::internal::logf(                                               \
          ::executorch::runtime::LogLevel::_level,                                         \
          ::executorch::runtime::internal::get_log_timestamp(),                            \
          ET_SHORT_FILENAME,                                                               \
          ET_FUNCTION,                                                                     \
          ET_LINE,                                                                         \
          _format,                                                                         \
          ##__VA_ARGS__);                                                                  \
    }                                                                                      \
  } while (0)
#else
namespace executorch {
namespace runtime {
namespace internal {
// Takes the arguments of a message that is compiled out, so that they count as used and stay type-checked.
template <typename... Args>
ET_INLINE void discard_log(const Args&...) {}
} // namespace internal
} // namespace runtime
} // namespace executorch
#define ET_LOG(_level, _format, ...)                                  \
  do {                                                                \
    if (false) {                                                      \
      ::executorch::runtime::internal::discard_log(__VA_ARGS__);      \
    }                                                                 \
  } while (0)
#endif

/// Logs when the condition does not hold, and goes on.
#define ET_CHECK_OR_LOG_ERROR(_condition, _format, ...) \
  do {                                                  \
    if (!(_condition)) {                                \
      ET_LOG(Error, _format, ##__VA_ARGS__);            \
    }                                                   \
  } while (0)
