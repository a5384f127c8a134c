// SPDX-License-Identifier: BSD-3-Clause
// Java's locks put the calls of a handle into an order, one behind the other. ThreadSanitizer sees
// no lock of Java's: a build with it is told here (java_locks_tsan.cpp), others do nothing
// (java_locks.cpp).
#pragma once

namespace executorch::extension::jni {

// While the outermost one of a thread lives, a native method runs; nested where a callback calls
// another one.
class CallOrder {
 public:
  CallOrder();
  ~CallOrder();
  CallOrder(const CallOrder&) = delete;
  CallOrder& operator=(const CallOrder&) = delete;

  // The thread's innermost call uses the object: it is behind all calls that used it and are over.
  static void uses(const void* object);

 private:
  unsigned outer_;
};

}  // namespace executorch::extension::jni
