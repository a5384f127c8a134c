// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/say.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <executorch/runtime/platform/platform.h>

namespace executorch::extension::llm {

void say(const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  runtime::pal_emit_log_message(runtime::pal_current_ticks(), et_pal_log_level_t::kInfo,
                                "llm_runner", "say", 0, message, std::strlen(message));
}

}  // namespace executorch::extension::llm
