// SPDX-License-Identifier: BSD-3-Clause
// Natives of Module.
#include <executorch/extension/module/module.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include <executorch/extension/android/jni/input_check.h>
#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/natives.h>
#include <executorch/extension/android/jni/threads.h>
#include <executorch/extension/android/jni/tracing.h>
#include <executorch/extension/android/jni/values.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>

namespace executorch::extension::jni {

using runtime::Error;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::Tag;

namespace {

// The Module goes before what its loaders point at.
class ModulePeer final : public Peer {
 public:
  std::vector<GlobalReference> buffers;
  std::vector<std::unique_ptr<char[]>> copies;
  std::unique_ptr<Module> module;
};

Module& module_of(jlong handle) {
  return *from_handle<ModulePeer>(handle).module;
}

Module::LoadMode to_load_mode(jint mode) {
  switch (mode) {
    case 0:
      return Module::LoadMode::File;
    case 2:
      return Module::LoadMode::MmapUseMlock;
    case 3:
      return Module::LoadMode::MmapUseMlockIgnoreErrors;
    default:
      return Module::LoadMode::Mmap;
  }
}

// A file that is no program is an error of loading, not of the first call.
jlong loaded(std::unique_ptr<ModulePeer> peer, const std::string& what) {
  const UsesThreads running;
  check(peer->module->load(), "failed to load " + what);
  return to_handle(std::move(peer));
}

jlong moduleLoad(JNIEnv* env, jclass, jstring path, jobjectArray data_files, jint load_mode,
                 jint num_threads) {
  return guarded(env, [&] {
    set_num_threads(static_cast<uint32_t>(std::max(0, num_threads)));
    const std::string file = to_utf8(env, path);
    auto peer = std::make_unique<ModulePeer>();
    peer->module = std::make_unique<Module>(file, to_strings(env, data_files),
                                            to_load_mode(load_mode), make_tracer());
    return loaded(std::move(peer), file);
  });
}

// Over Java's memory, or over an aligned copy: assets in archives stand at any byte.
std::unique_ptr<runtime::DataLoader> to_loader(JNIEnv* env, jobject buffer, ModulePeer* peer) {
  constexpr size_t kAlignment = 64;
  if (buffer == nullptr) {
    return nullptr;
  }
  const void* data = env->GetDirectBufferAddress(buffer);
  const auto size = static_cast<size_t>(env->GetDirectBufferCapacity(buffer));
  if (reinterpret_cast<uintptr_t>(data) % kAlignment == 0) {
    peer->buffers.emplace_back(env, buffer);
    return std::make_unique<BufferDataLoader>(data, size);
  }
  size_t space = size + kAlignment;
  peer->copies.emplace_back(new char[space]);
  void* aligned = peer->copies.back().get();
  std::align(kAlignment, size, aligned, space);
  std::memcpy(aligned, data, size);
  return std::make_unique<BufferDataLoader>(aligned, size);
}

jlong moduleLoadBuffers(JNIEnv* env, jclass, jobject program, jobject data, jint num_threads) {
  return guarded(env, [&] {
    set_num_threads(static_cast<uint32_t>(std::max(0, num_threads)));
    auto peer = std::make_unique<ModulePeer>();
    auto program_loader = to_loader(env, program, peer.get());
    auto data_loader = to_loader(env, data, peer.get());
    peer->module = std::make_unique<Module>(std::move(program_loader), nullptr, nullptr,
                                            make_tracer(), std::move(data_loader));
    return loaded(std::move(peer), "a program from memory");
  });
}

runtime::OptionValue to_option(JNIEnv* env, jobject value, const std::string& name) {
  if (env->IsInstanceOf(value, java().boolean_box)) {
    return made(env, env->CallBooleanMethod(value, java().boolean_value)) == JNI_TRUE;
  }
  if (env->IsInstanceOf(value, java().integer_box)) {
    return static_cast<int>(made(env, env->CallIntMethod(value, java().int_value)));
  }
  if (!env->IsInstanceOf(value, java().string)) {
    fail(Error::InvalidArgument, "option " + name + ": expected Boolean, Int or String");
  }
  const std::string text = to_utf8(env, static_cast<jstring>(value));
  std::array<char, runtime::kMaxOptionValueLength> bytes{};
  if (text.size() >= bytes.size()) {
    fail(Error::InvalidArgument, "option " + name + ": a value of " + std::to_string(text.size()) +
                                     " bytes, at most " + std::to_string(bytes.size() - 1));
  }
  std::copy(text.begin(), text.end(), bytes.begin());
  return bytes;
}

// From triples of backend, name and value.
std::map<std::string, std::vector<runtime::BackendOption>> to_options(JNIEnv* env,
                                                                      jobjectArray triples) {
  std::map<std::string, std::vector<runtime::BackendOption>> options;
  for (jsize i = 0; i < env->GetArrayLength(triples); i += 3) {
    const auto text = [&](jsize at) {
      return to_utf8(env, static_cast<jstring>(made(env, env->GetObjectArrayElement(triples, at))));
    };
    const std::string name = text(i + 1);
    runtime::BackendOption option;
    if (name.size() >= sizeof(option.key)) {
      fail(Error::InvalidArgument, "option " + name + ": its name is too long");
    }
    std::copy(name.begin(), name.end(), option.key);
    option.value = to_option(env, made(env, env->GetObjectArrayElement(triples, i + 2)), name);
    options[text(i)].push_back(option);
  }
  return options;
}

void moduleLoadMethod(JNIEnv* env, jclass, jlong handle, jstring method, jobjectArray options) {
  guarded(env, [&] {
    auto lists = to_options(env, options);
    runtime::LoadBackendOptionsMap map;
    for (auto& [backend, list] : lists) {
      check(map.set_options(backend.c_str(), {list.data(), list.size()}), "backend options");
    }
    const UsesThreads running;
    const std::string name = to_utf8(env, method);
    check(module_of(handle).load_method(name, nullptr, nullptr, lists.empty() ? nullptr : &map),
          "failed to load method " + name);
  });
}

// What a method runs on that is given nothing: tensors of ones, and ones.
class Ones {
 public:
  explicit Ones(const MethodMeta& meta) {
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      add(meta, i);
    }
  }

  const std::vector<EValue>& values() const { return values_; }

 private:
  void add(const MethodMeta& meta, size_t index) {
    switch (unwrap(meta.input_tag(index), "input")) {
      case Tag::Tensor: {
        const auto info = unwrap(meta.input_tensor_meta(index), "input");
        const std::vector<executorch::aten::SizesType> sizes(info.sizes().begin(),
                                                             info.sizes().end());
        tensors_.push_back(ones(sizes, info.scalar_type()));
        values_.emplace_back(*tensors_.back());
        break;
      }
      case Tag::Int:
        values_.emplace_back(int64_t{1});
        break;
      case Tag::Double:
        values_.emplace_back(1.0);
        break;
      case Tag::Bool:
        values_.emplace_back(true);
        break;
      default:
        values_.emplace_back();
    }
  }

  std::vector<EValue> values_;
  std::vector<TensorPtr> tensors_;
};

std::string failure_of(const std::string& method) {
  return "failed to execute method " + method;
}

jobjectArray moduleExecute(JNIEnv* env, jclass, jlong handle, jstring method, jlongArray header,
                           jobjectArray objects, jboolean in_place) {
  return guarded(env, [&] {
    const std::string name = to_utf8(env, method);
    Module& module = module_of(handle);
    const auto memory = in_place == JNI_TRUE ? TensorMemory::Borrowed : TensorMemory::Copied;
    const Inputs inputs(env, header, objects);
    const UsesThreads running;
    if (inputs.values().empty()) {
      const std::string what = failure_of(name);
      const MethodMeta meta = unwrap(module.method_meta(name), what);
      return to_java(env, unwrap(module.execute(name, Ones(meta).values()), what), memory);
    }
    const auto outputs = module.execute(name, inputs.values());
    if (!outputs.ok()) {
      const auto meta = module.method_meta(name);
      const std::string misfit = meta.ok() ? first_misfit(*meta, inputs.values()) : "";
      fail(outputs.error(), failure_of(name) + (misfit.empty() ? "" : ": " + misfit));
    }
    return to_java(env, *outputs, memory);
  });
}

jobjectArray moduleMethods(JNIEnv* env, jclass, jlong handle) {
  return guarded(env, [&] {
    const auto names = unwrap(module_of(handle).method_names(), "methods");
    std::vector<std::string> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    return to_java(env, sorted);
  });
}

// Inputs or outputs of a method: how many, then each as MethodMeta.kt says.
template <typename TagOf, typename InfoOf, typename RangeOf>
void append_values(size_t count, TagOf tag_of, InfoOf info_of, RangeOf range_of,
                   std::vector<jlong>* numbers) {
  numbers->push_back(static_cast<jlong>(count));
  for (size_t i = 0; i < count; ++i) {
    const Tag tag = unwrap(tag_of(i), "value");
    numbers->push_back(static_cast<jlong>(tag));
    if (tag != Tag::Tensor) {
      continue;
    }
    const auto info = unwrap(info_of(i), "value");
    numbers->push_back(static_cast<jlong>(info.scalar_type()));
    numbers->push_back(static_cast<jlong>(info.sizes().size()));
    for (size_t dim = 0; dim < info.sizes().size(); ++dim) {
      const auto range = unwrap(range_of(i, dim), "value");
      numbers->push_back(range.min);
      numbers->push_back(range.max);
    }
  }
}

jobjectArray moduleMethodMeta(JNIEnv* env, jclass, jlong handle, jstring method) {
  return guarded(env, [&] {
    const auto meta = unwrap(module_of(handle).method_meta(to_utf8(env, method)), "method");
    std::vector<jlong> numbers;
    append_values(
        meta.num_inputs(), [&](size_t i) { return meta.input_tag(i); },
        [&](size_t i) { return meta.input_tensor_meta(i); },
        [&](size_t i, size_t dim) { return meta.input_size_range(i, dim); }, &numbers);
    append_values(
        meta.num_outputs(), [&](size_t i) { return meta.output_tag(i); },
        [&](size_t i) { return meta.output_tensor_meta(i); },
        [&](size_t i, size_t dim) { return meta.output_size_range(i, dim); }, &numbers);
    numbers.push_back(static_cast<jlong>(meta.num_memory_planned_buffers()));
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      numbers.push_back(unwrap(meta.memory_planned_buffer_size(i), "planned buffer"));
    }
    std::vector<std::string> backends;
    for (size_t i = 0; i < meta.num_backends(); ++i) {
      backends.emplace_back(unwrap(meta.get_backend_name(i), "backend"));
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      names.emplace_back(meta.input_name(i));
    }
    for (size_t i = 0; i < meta.num_outputs(); ++i) {
      names.emplace_back(meta.output_name(i));
    }
    const jobject parts[] = {to_java(env, numbers), to_java(env, backends), to_java(env, names)};
    const jobjectArray packed = made(env, env->NewObjectArray(3, java().object, nullptr));
    for (jsize i = 0; i < 3; ++i) {
      env->SetObjectArrayElement(packed, i, parts[i]);
      check_java(env);
    }
    return packed;
  });
}

jboolean moduleEtdump(JNIEnv* env, jclass, jlong handle, jstring path) {
  return guarded(env, [&]() -> jboolean {
    return write_etdump(module_of(handle).event_tracer(), to_utf8(env, path)) ? JNI_TRUE
                                                                              : JNI_FALSE;
  });
}

}  // namespace

Natives module_natives() {
  static const JNINativeMethod kRows[] = {
      ET_NATIVE(moduleLoad, "(Ljava/lang/String;[Ljava/lang/String;II)J"),
      ET_NATIVE(moduleLoadBuffers, "(Ljava/nio/ByteBuffer;Ljava/nio/ByteBuffer;I)J"),
      ET_NATIVE(moduleLoadMethod, "(JLjava/lang/String;[Ljava/lang/Object;)V"),
      ET_NATIVE(moduleExecute, "(JLjava/lang/String;[J[Ljava/lang/Object;Z)[Ljava/lang/Object;"),
      ET_NATIVE(moduleMethods, "(J)[Ljava/lang/String;"),
      ET_NATIVE(moduleMethodMeta, "(JLjava/lang/String;)[Ljava/lang/Object;"),
      ET_NATIVE(moduleEtdump, "(JLjava/lang/String;)Z"),
  };
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::extension::jni
