// SPDX-License-Identifier: BSD-3-Clause
// Platform for Android: as posix, but that messages go to the system's log (adb logcat) under the
// tag ExecuTorch. All weak.
#define ET_PAL_LOGS_ELSEWHERE
#include <executorch/runtime/platform/default/posix.cpp>

#include <android/log.h>

namespace {

int priority_of(et_pal_log_level_t level) {
  switch (level) {
    case kDebug:
      return ANDROID_LOG_DEBUG;
    case kInfo:
      return ANDROID_LOG_INFO;
    case kError:
      return ANDROID_LOG_ERROR;
    case kFatal:
      return ANDROID_LOG_FATAL;
    default:
      return ANDROID_LOG_UNKNOWN;
  }
}

}  // namespace

extern "C" ET_WEAK void et_pal_emit_log_message(ET_UNUSED et_timestamp_t timestamp,
                                                et_pal_log_level_t level, const char* filename,
                                                ET_UNUSED const char* function, size_t line,
                                                const char* message, ET_UNUSED size_t length) {
  __android_log_print(priority_of(level), "ExecuTorch", "[%s:%zu] %s", filename, line, message);
}
