// SPDX-License-Identifier: BSD-3-Clause
// The process's thread pool, whose size Java may change while other threads run methods.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace executorch::extension::jni {

// Held while a method runs or is loaded: workers stay.
class UsesThreads {
 public:
  UsesThreads();

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

// Waits for those who run if the number is another one. 0: half of the logical processors.
void set_num_threads(uint32_t count);

// Physical cores of the fast kinds, less one for the app.
uint32_t num_threads_for_llm();

}  // namespace executorch::extension::jni
