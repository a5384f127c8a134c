// SPDX-License-Identifier: BSD-3-Clause
// What native code needs of Java: its classes, texts, and errors as exceptions.
//
// A native method is a function whose body runs in guarded(): C++ exceptions end there. After every
// call into Java stands check_java(), which leaves by PendingException when Java threw.
#pragma once

#include <jni.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <executorch/extension/android/jni/java_locks.h>
#include <executorch/extension/android/jni/log_ring.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::jni {

// Looked up once, when the library is loaded; never freed.
struct JavaTypes {
  jclass object;
  jclass string;
  jclass byte_buffer;
  jclass exception;
  jclass boolean_box;
  jclass integer_box;
  jmethodID allocate_direct;  // static ByteBuffer ByteBuffer.allocateDirect(int)
  jmethodID make_exception;   // static RuntimeException makeExecutorchException(int, String)
  jmethodID boolean_value;
  jmethodID int_value;
  jmethodID on_text;   // boolean TextSink.onText(String)
  jmethodID on_stats;  // void TextSink.onStats(String)
};

const JavaTypes& java();
// False with a Java exception pending where a class or method is missing.
bool find_java_types(JNIEnv* env);

// Java threw; the exception is on its way to the caller.
struct PendingException {};

// Becomes an ExecutorchRuntimeException.
struct Failure {
  runtime::Error error;
  std::string details;
};

inline void check_java(JNIEnv* env) {
  if (env->ExceptionCheck() == JNI_TRUE) {
    throw PendingException();
  }
}

// A reference that JNI made: null where memory is short, with an exception pending.
template <typename T>
T made(JNIEnv* env, T reference) {
  check_java(env);
  return reference;
}

// UTF-8 of a text; empty for null. JNI's own UTF-8 is Java's variant, which writes characters
// beyond 16 bits otherwise.
std::string to_utf8(JNIEnv* env, jstring text);
// Bytes that are no UTF-8 become U+FFFD.
jstring to_java(JNIEnv* env, std::string_view utf8);

std::vector<std::string> to_strings(JNIEnv* env, jobjectArray texts);
jobjectArray to_java(JNIEnv* env, const std::vector<std::string>& texts);
jlongArray to_java(JNIEnv* env, const std::vector<jlong>& numbers);
std::vector<jlong> to_numbers(JNIEnv* env, jlongArray numbers);

void throw_in_java(JNIEnv* env, const Failure& failure);

// What the runtime logged on this thread since guarded() began is a part of the message.
[[noreturn]] void fail(runtime::Error error, const std::string& what);
inline void check(runtime::Error error, const std::string& what) {
  if (error != runtime::Error::Ok) {
    fail(error, what);
  }
}
template <typename T>
T unwrap(runtime::Result<T>&& result, const std::string& what) {
  check(result.error(), what);
  return std::move(result.get());
}

// Runs the body of a native method. What it returns is without meaning while an exception is
// pending.
template <typename Body>
std::invoke_result_t<Body> guarded(JNIEnv* env, Body&& body) {
  const LogScope messages;
  const CallOrder order;
  try {
    return body();
  } catch (const PendingException&) {
  } catch (const Failure& failure) {
    throw_in_java(env, failure);
  } catch (const std::bad_alloc&) {
    throw_in_java(env, {runtime::Error::MemoryAllocationFailed, "out of memory"});
  } catch (const std::exception& error) {
    throw_in_java(env, {runtime::Error::Internal, error.what()});
  }
  if constexpr (!std::is_void_v<std::invoke_result_t<Body>>) {
    return {};
  }
}

// What handles point at; on 32-bit systems a handle has bits to spare.
class Peer {
 public:
  virtual ~Peer() = default;
};

inline jlong to_handle(std::unique_ptr<Peer> peer) {
  CallOrder::uses(peer.get());
  return static_cast<jlong>(reinterpret_cast<intptr_t>(peer.release()));
}
inline Peer* to_peer(jlong handle) {
  return reinterpret_cast<Peer*>(static_cast<intptr_t>(handle));
}
template <typename T>
T& from_handle(jlong handle) {
  CallOrder::uses(to_peer(handle));
  return static_cast<T&>(*to_peer(handle));
}

// Keeps a Java object alive; may be destroyed on any thread of Java's.
class GlobalReference {
 public:
  GlobalReference() = default;
  GlobalReference(JNIEnv* env, jobject object) : object_(env->NewGlobalRef(object)) {
    env->GetJavaVM(&vm_);
  }
  GlobalReference(GlobalReference&& other) noexcept
      : vm_(other.vm_), object_(std::exchange(other.object_, nullptr)) {}
  GlobalReference& operator=(GlobalReference&& other) noexcept {
    std::swap(vm_, other.vm_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~GlobalReference();

 private:
  JavaVM* vm_ = nullptr;
  jobject object_ = nullptr;
};

}  // namespace executorch::extension::jni
