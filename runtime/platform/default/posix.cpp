// SPDX-License-Identifier: BSD-3-Clause
// Platform for systems with a C++ standard library: steady_clock, messages to stderr, malloc. All
// weak.
#include <executorch/runtime/platform/platform.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point start_time() {
  // The first caller sets it; logging before runtime_init() is therefore fine.
  static const Clock::time_point start = Clock::now();
  return start;
}

}  // namespace

extern "C" {

ET_WEAK void et_pal_init(void) {
  (void)start_time();
}

ET_NORETURN ET_WEAK void et_pal_abort(void) {
  std::abort();
}

ET_WEAK et_timestamp_t et_pal_current_ticks(void) {
  const auto start = start_time();
  return static_cast<et_timestamp_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

ET_WEAK et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) {
  return {1, 1};
}

#ifndef ET_PAL_LOGS_ELSEWHERE
// I 00:00:00.043703 executorch:executor_runner.cpp:379] Message
ET_WEAK void et_pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level,
                                     const char* filename, ET_UNUSED const char* function,
                                     size_t line, const char* message, ET_UNUSED size_t length) {
  const uint64_t micros = timestamp / 1000;
  const unsigned long seconds = static_cast<unsigned long>(micros / 1000000);
  std::fprintf(stderr, "%c %02lu:%02lu:%02lu.%06lu executorch:%s:%zu] %s\n",
               static_cast<char>(level), seconds / 3600, seconds / 60 % 60, seconds % 60,
               static_cast<unsigned long>(micros % 1000000), filename, line, message);
  std::fflush(stderr);
}
#endif

ET_WEAK void* et_pal_allocate(size_t size) {
  return std::malloc(size);
}

ET_WEAK void et_pal_free(void* ptr) {
  std::free(ptr);
}

}  // extern "C"
