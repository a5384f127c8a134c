// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/memory_allocator/large_pages.h>

#include <executorch/runtime/platform/compiler.h>

#if defined(__linux__)

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace executorch::extension {

namespace {

using Clock = std::chrono::steady_clock;

/// Until then a model is loaded and has given its first result.
constexpr Clock::duration kFirstLook = std::chrono::seconds(1);

/// Never destroyed: the thread may outlive main().
struct Wanted {
  std::mutex mutex;
  std::condition_variable has_more;
  std::set<uint8_t*> pages;
  Clock::duration next_look = kFirstLook;
  bool has_thread = false;
};

Wanted& wanted() {
  static Wanted& instance = *new Wanted();
  return instance;
}

bool is_half_resident(uint8_t* large) {
  const size_t count = kLargePage / static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> is_resident(count);
  if (::mincore(large, kLargePage, is_resident.data()) != 0) {
    return false;
  }
  const auto resident = std::count_if(is_resident.begin(), is_resident.end(),
                                      [](unsigned char flags) { return (flags & 1) != 0; });
  return 2 * static_cast<size_t>(resident) >= count;
}

enum class Outcome { kDone, kLater, kUnsupported };

Outcome put_together(uint8_t* large) {
#if defined(MADV_COLLAPSE)
  constexpr int kCollapse = MADV_COLLAPSE;
#else
  constexpr int kCollapse = 25;  // which C libraries before glibc 2.37 do not name
#endif
  if (!is_half_resident(large)) {
    return Outcome::kLater;
  }
  if (::madvise(large, kLargePage, kCollapse) == 0) {
    return Outcome::kDone;
  }
  switch (errno) {
    case EINVAL:
      return Outcome::kUnsupported;
    case EAGAIN:
    case EBUSY:
    case ENOMEM:  // the system has none now
      return Outcome::kLater;
    default:
      return Outcome::kDone;
  }
}

/// One look at all pages; false when this system has no such call.
bool look(Wanted& all) {
  uint8_t* last = nullptr;
  for (;;) {
    const auto start = Clock::now();
    {
      const std::lock_guard<std::mutex> lock(all.mutex);
      const auto page = all.pages.upper_bound(last);
      if (page == all.pages.end()) {
        return true;
      }
      last = *page;
      const Outcome outcome = put_together(last);
      if (outcome == Outcome::kUnsupported) {
        return false;
      }
      if (outcome == Outcome::kDone) {
        all.pages.erase(page);
      }
    }
    std::this_thread::sleep_for(Clock::now() - start);
  }
}

void work() {
  Wanted& all = wanted();
  std::unique_lock<std::mutex> lock(all.mutex);
  while (!all.pages.empty()) {
    if (all.has_more.wait_for(lock, all.next_look) == std::cv_status::no_timeout) {
      continue;  // a second from now on
    }
    all.next_look *= 2;
    lock.unlock();
    const bool is_supported = look(all);
    lock.lock();
    if (!is_supported) {
      all.pages.clear();
    }
  }
  all.has_thread = false;
}

}  // namespace

// Weak, as each archive that needs them has them: a program links the archives that others'
// projects name, and one of several has one copy.
ET_WEAK void want_large_pages(void* begin, size_t size) {
  auto* const first = static_cast<uint8_t*>(begin);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(first) % kLargePage) % kLargePage;
  Wanted& all = wanted();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (size_t at = before; at + kLargePage <= size; at += kLargePage) {
    all.pages.insert(first + at);
  }
  all.next_look = kFirstLook;
  all.has_more.notify_one();
  if (all.has_thread || all.pages.empty()) {
    return;
  }
  const auto run = [](void*) -> void* {
    work();
    return nullptr;
  };
  pthread_t thread;
  all.has_thread = ::pthread_create(&thread, nullptr, run, nullptr) == 0;
  if (all.has_thread) {
    static_cast<void>(::pthread_detach(thread));
  }
}

ET_WEAK void forget_large_pages(void* begin, size_t size) {
  auto* const first = static_cast<uint8_t*>(begin);
  Wanted& all = wanted();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.pages.erase(all.pages.lower_bound(first), all.pages.lower_bound(first + size));
}

}  // namespace executorch::extension

#else

namespace executorch::extension {

ET_WEAK void want_large_pages(void*, size_t) {}
ET_WEAK void forget_large_pages(void*, size_t) {}

}  // namespace executorch::extension

#endif
