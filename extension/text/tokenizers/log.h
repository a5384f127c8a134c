// SPDX-License-Identifier: BSD-3-Clause
// The tokenizer library's log: lines on stderr, or wherever a program's own tk_pal_emit_log_message
// takes them.
#pragma once

#include <cstdarg>
#include <cstddef>

#ifndef TK_LOG_ENABLED
#define TK_LOG_ENABLED 1
#endif
#ifndef TK_MIN_LOG_LEVEL
#define TK_MIN_LOG_LEVEL Error
#endif

namespace tokenizers {

enum class LogLevel { Debug, Info, Error, Fatal };

/// Formats and hands one line to tk_pal_emit_log_message. Safe from any thread.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void log_message(LogLevel level, const char* file, size_t line, const char* format, ...);

}  // namespace tokenizers

/// The sink: a weak symbol, so that a program may define its own. The default prints
/// "E tokenizers:file.cpp:12] text" to stderr. `message` is gone when the call returns.
extern "C" void tk_pal_emit_log_message(tokenizers::LogLevel level, const char* file, size_t line,
                                        const char* message);

#define TK_LOG(level, ...)                                                                        \
  (static_cast<void>(                                                                             \
      TK_LOG_ENABLED &&                                                                           \
      ::tokenizers::LogLevel::level >= ::tokenizers::LogLevel::TK_MIN_LOG_LEVEL &&                \
      (::tokenizers::log_message(::tokenizers::LogLevel::level, __FILE__, __LINE__, __VA_ARGS__), \
       true)))
