// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/android/jni/java_locks.h>

#include <vector>

#include <sanitizer/tsan_interface.h>

namespace executorch::extension::jni {

namespace {

thread_local std::vector<const void*> used;

}  // namespace

CallOrder::CallOrder() : outer_(static_cast<unsigned>(used.size())) {}

CallOrder::~CallOrder() {
  for (; used.size() > outer_; used.pop_back()) {
    __tsan_release(const_cast<void*>(used.back()));
  }
}

void CallOrder::uses(const void* object) {
  __tsan_acquire(const_cast<void*>(object));
  used.push_back(object);
}

}  // namespace executorch::extension::jni
