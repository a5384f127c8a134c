// SPDX-License-Identifier: BSD-3-Clause
// What compiled code takes from glibc 2.30 and 2.32, the libstdc++ of GCC 12 and its libgcc, for
// programs that are linked or start with older ones: the release wheel's modules, and what is
// linked with its archives (EXECUTORCH_OLDER_LIBRARIES). Weak, because a newer library that is
// linked statically brings its own.
#include <pthread.h>
#include <time.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#define ET_OLDER __attribute__((weak, visibility("hidden")))

extern "C" {
// false: reference counts are atomic in programs of one thread too.
ET_OLDER extern char __libc_single_threaded;
char __libc_single_threaded = 0;

ET_OLDER [[noreturn]] void et_throw_bad_array_new_length() __asm__(
    "_ZSt28__throw_bad_array_new_lengthv");
void et_throw_bad_array_new_length() {
  throw std::bad_array_new_length();
}

// GCC 12 gave it a new version because it may now be cancelled.
ET_OLDER void
et_wait(std::condition_variable* variable, std::unique_lock<std::mutex>& lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void et_wait(std::condition_variable* variable, std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(variable->native_handle(), lock.mutex()->native_handle());
}

// Waits until a time of another clock than the variable's; as the libstdc++ of GCC 8 did, by what
// is left of it.
ET_OLDER int et_wait_by(pthread_cond_t* variable, pthread_mutex_t* mutex, clockid_t clock,
                        const timespec* end) __asm__("pthread_cond_clockwait");
int et_wait_by(pthread_cond_t* variable, pthread_mutex_t* mutex, clockid_t clock,
               const timespec* end) {
  constexpr int64_t kSecond = 1000000000;
  const auto nanoseconds = [](const timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
  };
  timespec now, here;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &here);
  const int64_t until = nanoseconds(here) + nanoseconds(*end) - nanoseconds(now);
  const timespec deadline = {until / kSecond, until % kSecond};
  return pthread_cond_timedwait(variable, mutex, &deadline);
}

#if defined(__x86_64__) && defined(__FLT16_MAX__)
// Half to single precision, which is exact.
ET_OLDER float __extendhfsf2(_Float16 half) {
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  uint32_t wide = sign | (exponent + 112) << 23 | fraction << 13;
  if (exponent == 0x1f) {
    const uint32_t quiet = fraction == 0 ? 0 : 0x400000;
    wide = sign | 0x7f800000 | quiet | fraction << 13;
  } else if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    std::memcpy(&wide, &magnitude, sizeof(wide));
    wide |= sign;
  }
  float single;
  std::memcpy(&single, &wide, sizeof(single));
  return single;
}
#endif
}
