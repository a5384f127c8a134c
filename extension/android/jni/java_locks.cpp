// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/android/jni/java_locks.h>

namespace executorch::extension::jni {

CallOrder::CallOrder() : outer_(0) {}
CallOrder::~CallOrder() = default;
void CallOrder::uses(const void*) {}

}  // namespace executorch::extension::jni
