// SPDX-License-Identifier: BSD-3-Clause
// Natives of TrainingModule and SGD.
#include <executorch/extension/training/module/training_module.h>

#include <deque>
#include <memory>

#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/natives.h>
#include <executorch/extension/android/jni/threads.h>
#include <executorch/extension/android/jni/values.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/training/optimizer/sgd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // training is experimental

namespace executorch::extension::jni {

using executorch::aten::Tensor;
using runtime::EValue;
using training::TrainingModule;
using training::optimizer::SGD;
using training::optimizer::SGDOptions;

namespace {

// The module, and the tensors that Java has of it, own it together.
struct TrainingPeer final : Peer {
  std::shared_ptr<TrainingModule> module;
};

// The optimizer's keys and tensors point into this.
struct SgdPeer final : Peer {
  std::deque<std::string> names;
  std::vector<TensorPtr> tensors;
  std::unique_ptr<SGD> optimizer;
};

std::unique_ptr<runtime::DataLoader> open(const std::string& path) {
  return std::make_unique<FileDataLoader>(unwrap(FileDataLoader::from(path.c_str()), path));
}

jlong trainingLoad(JNIEnv* env, jclass, jstring path, jstring data_path) {
  return guarded(env, [&] {
    const std::string file = to_utf8(env, path);
    auto program = open(file);
    auto data = data_path == nullptr ? nullptr : open(to_utf8(env, data_path));
    auto peer = std::make_unique<TrainingPeer>();
    peer->module = std::make_shared<TrainingModule>(std::move(program), nullptr, nullptr, nullptr,
                                                    std::move(data));
    check(peer->module->load(), "failed to load " + file);
    return to_handle(std::move(peer));
  });
}

jobjectArray trainingExecute(JNIEnv* env, jclass, jlong handle, jstring method, jlongArray header,
                             jobjectArray objects) {
  return guarded(env, [&] {
    const std::string name = to_utf8(env, method);
    const Inputs inputs(env, header, objects);
    const UsesThreads running;
    return to_java(env, unwrap(from_handle<TrainingPeer>(handle).module->execute_forward_backward(
                                   name, inputs.values()),
                               "failed to execute method " + name));
  });
}

jobjectArray trainingTensors(JNIEnv* env, jclass, jlong handle, jstring method,
                             jboolean gradients) {
  return guarded(env, [&] {
    const auto& module = from_handle<TrainingPeer>(handle).module;
    const std::string name = to_utf8(env, method);
    const auto tensors = gradients == JNI_TRUE
                             ? unwrap(module->named_gradients(name), "gradients of " + name)
                             : unwrap(module->named_parameters(name), "parameters of " + name);
    std::vector<std::string> names;
    std::vector<EValue> values;
    for (const auto& [key, tensor] : tensors) {
      names.emplace_back(key);
      values.emplace_back(tensor);
    }
    const jobject parts[] = {to_java(env, names), to_java(env, values, TensorMemory::Borrowed)};
    auto memory = std::make_unique<TrainingPeer>();
    memory->module = module;
    const jobjectArray packed = made(env, env->NewObjectArray(3, java().object, nullptr));
    for (jsize i = 0; i < 2; ++i) {
      env->SetObjectArrayElement(packed, i, parts[i]);
      check_java(env);
    }
    const jlongArray keeper = to_java(env, std::vector<jlong>{0});
    env->SetObjectArrayElement(packed, 2, keeper);
    check_java(env);
    const jlong owner = to_handle(std::move(memory));
    env->SetLongArrayRegion(keeper, 0, 1, &owner);
    return packed;
  });
}

// The names and tensors of a map, as the peer keeps them.
SGD::NamedTensors to_map(JNIEnv* env, jobjectArray names, const Inputs& tensors,
                         std::deque<std::string>* kept) {
  SGD::NamedTensors result;
  size_t i = 0;
  for (std::string& name : to_strings(env, names)) {
    kept->push_back(std::move(name));
    result.insert({kept->back(), *tensors.tensors()[i++]});
  }
  return result;
}

jlong sgdCreate(JNIEnv* env, jclass, jobjectArray names, jlongArray header, jobjectArray objects,
                jdouble lr, jdouble momentum, jdouble dampening, jdouble weight_decay,
                jboolean nesterov) {
  return guarded(env, [&] {
    const Inputs tensors(env, header, objects);
    auto peer = std::make_unique<SgdPeer>();
    peer->tensors = tensors.tensors();
    peer->optimizer = std::make_unique<SGD>(
        to_map(env, names, tensors, &peer->names),
        SGDOptions(lr, momentum, dampening, weight_decay, nesterov == JNI_TRUE));
    return to_handle(std::move(peer));
  });
}

void sgdStep(JNIEnv* env, jclass, jlong handle, jobjectArray names, jlongArray header,
             jobjectArray objects) {
  guarded(env, [&] {
    const Inputs tensors(env, header, objects);
    std::deque<std::string> kept;
    const auto gradients = to_map(env, names, tensors, &kept);
    check(from_handle<SgdPeer>(handle).optimizer->step(gradients), "failed to step");
  });
}

}  // namespace

Natives training_natives() {
  static const JNINativeMethod kRows[] = {
      ET_NATIVE(trainingLoad, "(Ljava/lang/String;Ljava/lang/String;)J"),
      ET_NATIVE(trainingExecute, "(JLjava/lang/String;[J[Ljava/lang/Object;)[Ljava/lang/Object;"),
      ET_NATIVE(trainingTensors, "(JLjava/lang/String;Z)[Ljava/lang/Object;"),
      ET_NATIVE(sgdCreate, "([Ljava/lang/String;[J[Ljava/lang/Object;DDDDZ)J"),
      ET_NATIVE(sgdStep, "(J[Ljava/lang/String;[J[Ljava/lang/Object;)V"),
  };
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::extension::jni
