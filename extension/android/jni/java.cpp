// SPDX-License-Identifier: BSD-3-Clause
// Classes, texts and exceptions of Java.
#include <executorch/extension/android/jni/java.h>

#include <executorch/extension/android/jni/utf.h>

namespace executorch::extension::jni {

namespace {

JavaTypes types;

// A class that stays; null with an exception pending if there is none.
jclass find_class(JNIEnv* env, const char* name) {
  const jclass found = env->FindClass(name);
  return found == nullptr ? nullptr : static_cast<jclass>(env->NewGlobalRef(found));
}

}  // namespace

const JavaTypes& java() {
  return types;
}

bool find_java_types(JNIEnv* env) {
  struct ClassRow {
    jclass JavaTypes::* place;
    const char* name;
  };
  constexpr ClassRow kClasses[] = {
      {&JavaTypes::object, "java/lang/Object"},
      {&JavaTypes::string, "java/lang/String"},
      {&JavaTypes::byte_buffer, "java/nio/ByteBuffer"},
      {&JavaTypes::exception, "org/pytorch/executorch/ExecutorchRuntimeException"},
      {&JavaTypes::boolean_box, "java/lang/Boolean"},
      {&JavaTypes::integer_box, "java/lang/Integer"},
  };
  for (const ClassRow& row : kClasses) {
    if ((types.*row.place = find_class(env, row.name)) == nullptr) {
      return false;
    }
  }
  const jclass sink = env->FindClass("org/pytorch/executorch/internal/TextSink");
  if (sink == nullptr) {
    return false;
  }
  types.allocate_direct =
      env->GetStaticMethodID(types.byte_buffer, "allocateDirect", "(I)Ljava/nio/ByteBuffer;");
  types.make_exception =
      env->GetStaticMethodID(types.exception, "makeExecutorchException",
                             "(ILjava/lang/String;)Ljava/lang/RuntimeException;");
  types.boolean_value = env->GetMethodID(types.boolean_box, "booleanValue", "()Z");
  types.int_value = env->GetMethodID(types.integer_box, "intValue", "()I");
  types.on_text = env->GetMethodID(sink, "onText", "(Ljava/lang/String;)Z");
  types.on_stats = env->GetMethodID(sink, "onStats", "(Ljava/lang/String;)V");
  return env->ExceptionCheck() == JNI_FALSE;
}

std::string to_utf8(JNIEnv* env, jstring text) {
  if (text == nullptr) {
    return {};
  }
  std::u16string units(static_cast<size_t>(env->GetStringLength(text)), u'\0');
  static_assert(sizeof(jchar) == sizeof(char16_t));
  env->GetStringRegion(text, 0, static_cast<jsize>(units.size()),
                       reinterpret_cast<jchar*>(units.data()));
  check_java(env);
  return utf16_to_utf8(units);
}

jstring to_java(JNIEnv* env, std::string_view utf8) {
  const std::u16string units = utf8_to_utf16(utf8);
  return made(env, env->NewString(reinterpret_cast<const jchar*>(units.data()),
                                  static_cast<jsize>(units.size())));
}

std::vector<std::string> to_strings(JNIEnv* env, jobjectArray texts) {
  const jsize count = texts == nullptr ? 0 : env->GetArrayLength(texts);
  std::vector<std::string> result;
  for (jsize i = 0; i < count; ++i) {
    const auto text = static_cast<jstring>(made(env, env->GetObjectArrayElement(texts, i)));
    result.push_back(to_utf8(env, text));
    env->DeleteLocalRef(text);
  }
  return result;
}

jobjectArray to_java(JNIEnv* env, const std::vector<std::string>& texts) {
  const auto size = static_cast<jsize>(texts.size());
  const jobjectArray result = made(env, env->NewObjectArray(size, java().string, nullptr));
  for (jsize i = 0; i < size; ++i) {
    const jstring text = to_java(env, texts[static_cast<size_t>(i)]);
    env->SetObjectArrayElement(result, i, text);
    check_java(env);
    env->DeleteLocalRef(text);
  }
  return result;
}

jlongArray to_java(JNIEnv* env, const std::vector<jlong>& numbers) {
  const auto size = static_cast<jsize>(numbers.size());
  const jlongArray result = made(env, env->NewLongArray(size));
  env->SetLongArrayRegion(result, 0, size, numbers.data());
  return made(env, result);
}

std::vector<jlong> to_numbers(JNIEnv* env, jlongArray numbers) {
  std::vector<jlong> result(static_cast<size_t>(env->GetArrayLength(numbers)));
  env->GetLongArrayRegion(numbers, 0, static_cast<jsize>(result.size()), result.data());
  check_java(env);
  return result;
}

void fail(runtime::Error error, const std::string& what) {
  constexpr size_t kMaxLog = 2048;
  std::string messages = LogScope::messages();
  if (messages.size() > kMaxLog) {
    messages.erase(0, messages.size() - kMaxLog);
  }
  throw Failure{error, messages.empty() ? what : what + " | nativeLog=" + messages};
}

void throw_in_java(JNIEnv* env, const Failure& failure) {
  try {
    const jstring details = to_java(env, failure.details);
    const auto exception = static_cast<jthrowable>(env->CallStaticObjectMethod(
        java().exception, java().make_exception, static_cast<jint>(failure.error), details));
    check_java(env);
    env->Throw(exception);
  } catch (const PendingException&) {  // that one goes to the caller
  }
}

GlobalReference::~GlobalReference() {
  JNIEnv* env = nullptr;
  if (object_ != nullptr &&
      vm_->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) == JNI_OK) {
    env->DeleteGlobalRef(object_);
  }
}

}  // namespace executorch::extension::jni
