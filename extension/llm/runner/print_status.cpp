// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/print_status.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <executorch/extension/llm/runner/util.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::extension::llm {

void print_status(const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  runtime::pal_emit_log_message(runtime::pal_current_ticks(), et_pal_log_level_t::kInfo,
                                "llm_runner", "print_status", 0, message, std::strlen(message));
}

void print_memory_status(const char* when, const GenerationConfig& config) {
  const double mebibytes = static_cast<double>(get_rss_bytes()) / (1 << 20);
  if (config.warming || config.silent) {
    ET_LOG(Debug, "RSS after %s: %f MiB (0 if unsupported)", when, mebibytes);
  } else {
    print_status("RSS after %s: %f MiB (0 if unsupported)", when, mebibytes);
  }
}

}  // namespace executorch::extension::llm
