// SPDX-License-Identifier: BSD-3-Clause
// One line per message.
#include <pytorch/tokenizers/held_log.h>
#include <pytorch/tokenizers/log.h>

#include <cstdio>
#include <cstring>

#if defined(__GNUC__)
#define TK_WEAK __attribute__((weak))
#else
#define TK_WEAK
#endif

extern "C" TK_WEAK void tk_pal_emit_log_message(tokenizers::LogLevel level, const char* file,
                                                size_t line, const char* message) {
  std::fprintf(stderr, "%c tokenizers:%s:%zu] %s\n", "DIEF"[static_cast<int>(level)], file, line,
               message);
}

namespace tokenizers {

namespace {

thread_local HeldLog* held = nullptr;

}  // namespace

HeldLog::HeldLog() : outer_(held) {
  held = this;
}
HeldLog::~HeldLog() {
  held = outer_;
}

void HeldLog::emit() {
  held = outer_;
  for (const Line& each : lines_) {
    log_message(each.level, each.file, each.line, "%s", each.text.c_str());
  }
  lines_.clear();
}

void log_message(LogLevel level, const char* file, size_t line, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (held != nullptr) {
    held->lines_.push_back({level, file, line, text});
    return;
  }
  const char* slash = std::strrchr(file, '/');
  tk_pal_emit_log_message(level, slash != nullptr ? slash + 1 : file, line, text);
}

}  // namespace tokenizers
