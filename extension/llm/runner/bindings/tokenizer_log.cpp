// SPDX-License-Identifier: BSD-3-Clause
// What tokenizers log of errors is part of the Python exception that follows, not lines on stderr.
#include <executorch/runtime/platform/log.h>
#include <pytorch/tokenizers/log.h>

extern "C" void tk_pal_emit_log_message(tokenizers::LogLevel level, const char* /*file*/,
                                        size_t /*line*/, const char* message) {
  if (level >= tokenizers::LogLevel::Error) {
    ET_LOG(Error, "%s", message);
  }
}
