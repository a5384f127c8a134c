// SPDX-License-Identifier: BSD-3-Clause
// Platform layer that needs nothing: no clock, no output, no memory. For targets that register their own.
#include <executorch/runtime/platform/platform.h>

extern "C" {

ET_WEAK void et_pal_init(void) {}

ET_WEAK ET_NORETURN void et_pal_abort(void) {
#if defined(_MSC_VER) && !defined(__clang__)
  for (;;) {
  }
#else
  __builtin_trap();
#endif
}

ET_WEAK et_timestamp_t et_pal_current_ticks(void) {
  return 0;
}

ET_WEAK et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) {
  return {1, 1};
}

ET_WEAK void et_pal_emit_log_message(
    et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char*, size_t) {}

ET_WEAK void* et_pal_allocate(size_t) {
  return nullptr;
}

ET_WEAK void et_pal_free(void*) {}

} // extern "C"
