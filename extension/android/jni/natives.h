// SPDX-License-Identifier: BSD-3-Clause
// The families of native methods; natives.cpp has the list of them.
#pragma once

#include <jni.h>

#include <executorch/runtime/core/span.h>

namespace executorch::extension::jni {

using Natives = runtime::Span<const JNINativeMethod>;

// Rows of internal/Natives.java: name, signature, function.
Natives runtime_natives();
Natives module_natives();
Natives training_natives();
Natives llm_natives();
Natives asr_natives();

}  // namespace executorch::extension::jni

// A row of a family: the function of the same name. JNINativeMethod takes pointers to what is not
// changed.
#define ET_NATIVE(name, signature) \
  {const_cast<char*>(#name), const_cast<char*>(signature), reinterpret_cast<void*>(name)}
