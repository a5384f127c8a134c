// SPDX-License-Identifier: BSD-3-Clause
// Text on its way to Java while it is generated: pieces may end within a character, what Java gets
// never does.
#pragma once

#include <string>

#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/utf.h>

namespace executorch::extension::jni {

// Borrows the sink. Used on the thread of `env`.
class TextStream {
 public:
  TextStream(JNIEnv* env, jobject sink) : env_(env), sink_(sink) {}

  // False when Java wants no more; also when it threw, which finish() passes on.
  bool put(const std::string& piece) {
    waiting_ += piece;
    return send(whole_characters(waiting_));
  }

  // Bytes left over are no text and become U+FFFD. PendingException if Java threw.
  void finish() {
    send(waiting_.size());
    check_java(env_);
  }

 private:
  // No exception leaves it: between here and Java are frames of C++ that do not expect one.
  bool send(size_t size) {
    if (env_->ExceptionCheck() == JNI_TRUE) {
      return false;
    }
    if (size == 0) {
      return true;
    }
    try {
      const jstring text = to_java(env_, std::string_view(waiting_).substr(0, size));
      waiting_.erase(0, size);
      const bool goes_on = env_->CallBooleanMethod(sink_, java().on_text, text) == JNI_TRUE;
      check_java(env_);
      env_->DeleteLocalRef(text);
      return goes_on;
    } catch (const PendingException&) {
      return false;
    }
  }

  JNIEnv* env_;
  jobject sink_;
  std::string waiting_;
};

}  // namespace executorch::extension::jni
