// SPDX-License-Identifier: BSD-3-Clause
// Platform layer of desktop and server systems: steady clock, messages to stderr, malloc.
#include <executorch/runtime/platform/platform.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <chrono>

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point start_of_clock() {
  static const Clock::time_point start = Clock::now();
  return start;
}

} // namespace

extern "C" {

ET_WEAK void et_pal_init(void) {
  (void)start_of_clock();
}

ET_WEAK ET_NORETURN void et_pal_abort(void) {
  std::abort();
}

ET_WEAK et_timestamp_t et_pal_current_ticks(void) {
  const auto start = start_of_clock();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

ET_WEAK et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) {
  return {1, 1};
}

ET_WEAK void et_pal_emit_log_message(
    et_timestamp_t timestamp,
    et_pal_log_level_t level,
    const char* filename,
    ET_UNUSED const char* function,
    size_t line,
    const char* message,
    ET_UNUSED size_t length) {
  const uint64_t micros = timestamp / 1000;
  const uint64_t seconds = micros / 1000000;
  std::fprintf(
      stderr,
      "%c %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%06" PRIu64 " executorch:%s:%zu] %s\n",
      static_cast<char>(level),
      seconds / 3600,
      (seconds / 60) % 60,
      seconds % 60,
      micros % 1000000,
      filename,
      line,
      message);
  std::fflush(stderr);
}

ET_WEAK void* et_pal_allocate(size_t size) {
  return std::malloc(size);
}

ET_WEAK void et_pal_free(void* ptr) {
  std::free(ptr);
}

} // extern "C"
