// SPDX-License-Identifier: BSD-3-Clause
// Natives of LlmModule.
#include <executorch/extension/llm/runner/llm_runner_helper.h>

#include <cstring>
#include <memory>
#include <utility>

#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/natives.h>
#include <executorch/extension/android/jni/text_stream.h>
#include <executorch/extension/android/jni/threads.h>
#include <executorch/extension/llm/runner/multimodal_runner.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>

namespace executorch::extension::jni {

using llm::Audio;
using llm::ContextRunner;
using llm::GenerationConfig;
using llm::Image;
using llm::MultimodalInput;
using llm::RawAudio;
using runtime::Error;

namespace {

constexpr jint kText = 1;
constexpr jint kMultimodal = 2;
constexpr float kOfEachCall = -1;  // temperature

struct LlmPeer final : Peer {
  std::unique_ptr<ContextRunner> runner;
  jint num_bos = 0;  // at the beginning of a context
  jint num_eos = 0;  // behind each prompt
  bool is_new = true;

  int32_t take_num_bos() { return std::exchange(is_new, false) ? num_bos : 0; }
};

ContextRunner& runner_of(jlong handle) {
  return *from_handle<LlmPeer>(handle).runner;
}

Module::LoadMode to_load_mode(jint mode) {
  constexpr Module::LoadMode kModes[] = {Module::LoadMode::File, Module::LoadMode::Mmap,
                                         Module::LoadMode::MmapUseMlock,
                                         Module::LoadMode::MmapUseMlockIgnoreErrors};
  return mode >= 0 && mode < 4 ? kModes[mode] : Module::LoadMode::Mmap;
}

std::unique_ptr<ContextRunner> make_runner(jint model_type, const std::string& program,
                                           const std::string& tokenizer_path,
                                           const std::vector<std::string>& data_files,
                                           Module::LoadMode load_mode) {
  auto tokenizer = llm::load_tokenizer(tokenizer_path);
  if (tokenizer == nullptr) {
    fail(Error::InvalidArgument, "failed to read tokenizer " + tokenizer_path);
  }
  if (model_type == kText) {
    return llm::create_text_llm_runner(program, std::move(tokenizer), data_files, kOfEachCall,
                                       nullptr, "forward", load_mode);
  }
  if (model_type != kMultimodal) {
    fail(Error::NotSupported, "this library has no runner for model type " +
                                  std::to_string(model_type) + "; expected 1 (text) or 2");
  }
  if (data_files.size() > 1) {
    fail(Error::NotSupported,
         "a multimodal model takes one data file, got " + std::to_string(data_files.size()));
  }
  return llm::create_multimodal_runner(
      program, std::move(tokenizer),
      data_files.empty() ? std::nullopt : std::optional<const std::string>(data_files[0]),
      load_mode);
}

jlong llmCreate(JNIEnv* env, jclass, jint model_type, jstring module_path, jstring tokenizer_path,
                jobjectArray data_files, jint num_bos, jint num_eos, jint load_mode) {
  return guarded(env, [&] {
    set_num_threads(num_threads_for_llm());
    const std::string program = to_utf8(env, module_path);
    auto peer = std::make_unique<LlmPeer>();
    peer->runner = make_runner(model_type, program, to_utf8(env, tokenizer_path),
                               to_strings(env, data_files), to_load_mode(load_mode));
    if (peer->runner == nullptr) {
      fail(Error::InvalidProgram, "failed to make a runner of " + program);
    }
    peer->num_bos = num_bos;
    peer->num_eos = num_eos;
    return to_handle(std::move(peer));
  });
}

void llmLoad(JNIEnv* env, jclass, jlong handle) {
  guarded(env, [&] {
    const UsesThreads running;
    check(runner_of(handle).load(), "failed to load");
  });
}

// `settings`: seq_len, max_new_tokens, num_bos, num_eos, echo, warming, and maybe seed; see
// LlmModule.kt.
GenerationConfig to_config(LlmPeer& peer, const std::vector<jlong>& settings, double temperature,
                           std::string json_schema) {
  GenerationConfig config;
  config.seq_len = static_cast<int32_t>(settings[0]);
  config.max_new_tokens = static_cast<int32_t>(settings[1]);
  config.num_bos = static_cast<int32_t>(settings[2]) + peer.take_num_bos();
  config.num_eos = static_cast<int32_t>(settings[3] + peer.num_eos);
  config.echo = settings[4] != 0;
  config.warming = settings[5] != 0;
  config.silent = true;  // an app's standard output is nobody's
  config.temperature = static_cast<float>(temperature);
  if (settings.size() > 6) {
    config.seed = static_cast<uint64_t>(settings[6]);
  }
  if (!json_schema.empty()) {
    config.grammar = std::move(json_schema);
    config.grammar_type = "json_schema";
  }
  return config;
}

void llmGenerate(JNIEnv* env, jclass, jlong handle, jstring prompt, jlongArray settings,
                 jdouble temperature, jstring json_schema, jobject sink) {
  guarded(env, [&] {
    LlmPeer& peer = from_handle<LlmPeer>(handle);
    ContextRunner& runner = *peer.runner;
    const std::string text = to_utf8(env, prompt);
    const GenerationConfig config =
        to_config(peer, to_numbers(env, settings), temperature, to_utf8(env, json_schema));
    const UsesThreads running;
    TextStream stream(env, sink);
    std::string stats;
    const Error error = runner.generate(
        text, config,
        [&](const std::string& piece) {
          if (!stream.put(piece)) {
            runner.stop();
          }
        },
        [&](const llm::Stats& all) { stats = llm::stats_to_json_string(all); });
    stream.finish();
    check(error, "failed to generate");
    if (!stats.empty()) {
      env->CallVoidMethod(sink, java().on_stats, to_java(env, stats));
      check_java(env);
    }
  });
}

void prefill(jlong handle, MultimodalInput input) {
  LlmPeer& peer = from_handle<LlmPeer>(handle);
  const UsesThreads running;
  std::vector<MultimodalInput> inputs;
  inputs.push_back(std::move(input));
  check(peer.runner->prefill(inputs, peer.take_num_bos(), peer.num_eos).error(), "Prefill failed");
}

void llmPrefillText(JNIEnv* env, jclass, jlong handle, jstring prompt) {
  guarded(env, [&] { prefill(handle, MultimodalInput(to_utf8(env, prompt))); });
}

// Values of a direct buffer from byte `offset` on, which Java has found large enough.
template <typename T>
std::vector<T> values_of(JNIEnv* env, jobject buffer, jint offset, size_t count) {
  std::vector<T> values(count);
  const auto* bytes = static_cast<const char*>(env->GetDirectBufferAddress(buffer)) + offset;
  if (count > 0) {
    std::memcpy(values.data(), bytes, count * sizeof(T));
  }
  return values;
}

void llmPrefillImage(JNIEnv* env, jclass, jlong handle, jobject buffer, jint offset,
                     jboolean is_float, jint width, jint height, jint channels) {
  guarded(env, [&] {
    const auto count =
        static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(channels);
    prefill(handle, MultimodalInput(is_float == JNI_TRUE
                                        ? Image(values_of<float>(env, buffer, offset, count), width,
                                                height, channels)
                                        : Image(values_of<uint8_t>(env, buffer, offset, count),
                                                width, height, channels)));
  });
}

void llmPrefillAudio(JNIEnv* env, jclass, jlong handle, jobject buffer, jboolean is_float,
                     jint batch_size, jint bins, jint frames) {
  guarded(env, [&] {
    const auto count =
        static_cast<size_t>(batch_size) * static_cast<size_t>(bins) * static_cast<size_t>(frames);
    prefill(handle,
            MultimodalInput(
                is_float == JNI_TRUE
                    ? Audio(values_of<float>(env, buffer, 0, count), batch_size, bins, frames)
                    : Audio(values_of<uint8_t>(env, buffer, 0, count), batch_size, bins, frames)));
  });
}

void llmPrefillRawAudio(JNIEnv* env, jclass, jlong handle, jobject buffer, jint batch_size,
                        jint channels, jint samples) {
  guarded(env, [&] {
    const auto count = static_cast<size_t>(env->GetDirectBufferCapacity(buffer));
    prefill(handle, MultimodalInput(RawAudio{values_of<uint8_t>(env, buffer, 0, count), batch_size,
                                             channels, samples}));
  });
}

void llmStop(JNIEnv* env, jclass, jlong handle) {
  guarded(env, [&] { runner_of(handle).stop(); });
}

void llmReset(JNIEnv* env, jclass, jlong handle) {
  guarded(env, [&] {
    runner_of(handle).reset();
    from_handle<LlmPeer>(handle).is_new = true;
  });
}

}  // namespace

Natives llm_natives() {
  static const JNINativeMethod kRows[] = {
      ET_NATIVE(llmCreate, "(ILjava/lang/String;Ljava/lang/String;[Ljava/lang/String;III)J"),
      ET_NATIVE(llmLoad, "(J)V"),
      ET_NATIVE(
          llmGenerate,
          "(JLjava/lang/String;[JDLjava/lang/String;Lorg/pytorch/executorch/internal/TextSink;)V"),
      ET_NATIVE(llmPrefillText, "(JLjava/lang/String;)V"),
      ET_NATIVE(llmPrefillImage, "(JLjava/nio/ByteBuffer;IZIII)V"),
      ET_NATIVE(llmPrefillAudio, "(JLjava/nio/ByteBuffer;ZIII)V"),
      ET_NATIVE(llmPrefillRawAudio, "(JLjava/nio/ByteBuffer;III)V"),
      ET_NATIVE(llmStop, "(J)V"),
      ET_NATIVE(llmReset, "(J)V"),
  };
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::extension::jni
