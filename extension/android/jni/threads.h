// SPDX-License-Identifier: BSD-3-Clause
// The process's thread pool, whose size Java may ask to change while other threads run methods.
#pragma once

#include <cstdint>

namespace executorch::extension::jni {

// Held while a method runs or is loaded: workers stay. May be nested, as callbacks call other
// modules.
class UsesThreads {
 public:
  UsesThreads();
  ~UsesThreads();
  UsesThreads(const UsesThreads&) = delete;
  UsesThreads& operator=(const UsesThreads&) = delete;
};

// 0: half of the logical processors. While a method runs, the pool stays as it is, and the log says
// so: to wait for the end of an answer would be worse.
void set_num_threads(uint32_t count);

// Physical cores of the fast kinds, less one for the app.
uint32_t num_threads_for_llm();

}  // namespace executorch::extension::jni
