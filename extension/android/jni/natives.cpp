// SPDX-License-Identifier: BSD-3-Clause
// JNI_OnLoad: binds the native methods of internal/Natives.java, of all families that this build
// has.
#include <executorch/extension/android/jni/natives.h>

#include <string>

#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/log_ring.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::extension::jni {

namespace {

// In the order of Natives.java.
constexpr Natives (*kFamilies[])() = {
    runtime_natives,  module_natives,
#ifdef ET_JNI_TRAINING
    training_natives,
#endif
#ifdef ET_JNI_LLM
    llm_natives,
#endif
#ifdef ET_JNI_ASR
    asr_natives,
#endif
};

jobjectArray registeredOps(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    std::vector<std::string> names;
    for (const runtime::Kernel& kernel : runtime::get_registered_kernels()) {
      if (names.empty() || names.back() != kernel.name_) {  // one for each dtype
        names.emplace_back(kernel.name_);
      }
    }
    return to_java(env, names);
  });
}

jobjectArray registeredBackends(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    std::vector<std::string> names;
    for (size_t i = 0; i < runtime::get_num_registered_backends(); ++i) {
      names.emplace_back(unwrap(runtime::get_backend_name(i), "backend"));
    }
    return to_java(env, names);
  });
}

jobjectArray logBuffer(JNIEnv* env, jclass) {
  return guarded(env, [&] { return to_java(env, last_messages()); });
}

void free_peer(JNIEnv* env, jclass, jlong handle) {
  guarded(env, [&] { delete &from_handle<Peer>(handle); });
}

}  // namespace

Natives runtime_natives() {
  static const JNINativeMethod kRows[] = {
      ET_NATIVE(registeredOps, "()[Ljava/lang/String;"),
      ET_NATIVE(registeredBackends, "()[Ljava/lang/String;"),
      ET_NATIVE(logBuffer, "()[Ljava/lang/String;"),
      {const_cast<char*>("free"), const_cast<char*>("(J)V"), reinterpret_cast<void*>(free_peer)},
  };
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::extension::jni

extern "C" JNIEXPORT jint JNI_OnLoad(JavaVM* vm, void*) {
  using namespace executorch::extension::jni;
  constexpr jint kVersion = JNI_VERSION_1_6;
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), kVersion) != JNI_OK || !find_java_types(env)) {
    return JNI_ERR;
  }
  const jclass holder = env->FindClass("org/pytorch/executorch/internal/Natives");
  if (holder == nullptr) {
    return JNI_ERR;
  }
  for (const auto family : kFamilies) {
    const Natives rows = family();
    if (env->RegisterNatives(holder, rows.data(), static_cast<jint>(rows.size())) != JNI_OK) {
      return JNI_ERR;
    }
  }
  executorch::runtime::runtime_init();
  keep_log();
  return kVersion;
}
