// SPDX-License-Identifier: BSD-3-Clause
// Platform for systems without anything: no clock, no log, no heap; abort traps. All weak, to be
// overridden.
#include <executorch/runtime/platform/platform.h>

extern "C" {

ET_WEAK void et_pal_init(void) {}

ET_NORETURN ET_WEAK void et_pal_abort(void) {
#if __has_builtin(__builtin_trap) || defined(__GNUC__)
  __builtin_trap();
#else
  for (;;) {
  }
#endif
}

// Time is unknown and stands still, at a number that is seen to be none.
ET_WEAK et_timestamp_t et_pal_current_ticks(void) {
  return 11223344;
}

ET_WEAK et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) {
  return {1, 1};
}

ET_WEAK void et_pal_emit_log_message(ET_UNUSED et_timestamp_t timestamp,
                                     ET_UNUSED et_pal_log_level_t level,
                                     ET_UNUSED const char* filename, ET_UNUSED const char* function,
                                     ET_UNUSED size_t line, ET_UNUSED const char* message,
                                     ET_UNUSED size_t length) {}

ET_WEAK void* et_pal_allocate(ET_UNUSED size_t size) {
  return nullptr;
}

ET_WEAK void et_pal_free(ET_UNUSED void* ptr) {}

}  // extern "C"
