// SPDX-License-Identifier: BSD-3-Clause
// A scope in which the calling thread does not use the thread pool.
#pragma once

namespace executorch::extension::threadpool {

// While an object lives, what its thread runs through the pool runs on that thread alone, and
// get_pthreadpool() gives nullptr there. Other threads are not concerned. Scopes nest.
struct NoThreadPoolGuard {
  static bool is_enabled();
  static void set_enabled(bool enabled);

  NoThreadPoolGuard() : previous_(is_enabled()) { set_enabled(true); }
  ~NoThreadPoolGuard() { set_enabled(previous_); }
  NoThreadPoolGuard(const NoThreadPoolGuard&) = delete;
  NoThreadPoolGuard& operator=(const NoThreadPoolGuard&) = delete;

 private:
  const bool previous_;
};

}  // namespace executorch::extension::threadpool
