// SPDX-License-Identifier: BSD-3-Clause
// Values of methods as Java passes them: internal/Values.kt is the other side and says the form.
#pragma once

#include <jni.h>

#include <string>
#include <vector>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>

namespace executorch::extension::jni {

// Inputs over Java's buffers, which the caller's frame keeps alive.
class Inputs {
 public:
  // Failure for a text, which methods do not take, for None, and for sizes beyond 32 bits.
  Inputs(JNIEnv* env, jlongArray header, jobjectArray objects);

  const std::vector<runtime::EValue>& values() const { return values_; }
  const std::vector<TensorPtr>& tensors() const { return tensors_; }

 private:
  std::vector<runtime::EValue> values_;
  std::vector<TensorPtr> tensors_;  // what values_ borrow
};

enum class TensorMemory {
  Copied,    // into memory of Java's
  Borrowed,  // the tensor's own, which lives longer than what Java makes of it; copied where its
             // elements lie in another order than that of the sizes
};

// Failure for lists, which Java has no values for.
jobjectArray to_java(JNIEnv* env, const std::vector<runtime::EValue>& values,
                     TensorMemory memory = TensorMemory::Copied);

}  // namespace executorch::extension::jni
