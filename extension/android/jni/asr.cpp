// SPDX-License-Identifier: BSD-3-Clause
// Natives of AsrModule.
#include <executorch/extension/asr/runner/seq2seq_runner.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include <executorch/extension/android/jni/java.h>
#include <executorch/extension/android/jni/natives.h>
#include <executorch/extension/android/jni/text_stream.h>
#include <executorch/extension/android/jni/threads.h>
#include <executorch/extension/llm/runner/wav_loader.h>

namespace executorch::extension::jni {

using asr::Seq2SeqRunner;
using asr::Seq2SeqTranscribeConfig;
using runtime::Error;

namespace {

struct AsrPeer final : Peer {
  std::unique_ptr<Seq2SeqRunner> runner;
  std::unique_ptr<Module> preprocessor;  // null: samples go to the encoder as they are
};

jlong asrCreate(JNIEnv* env, jclass, jstring model_path, jstring tokenizer_path, jstring data_path,
                jstring preprocessor_path) {
  return guarded(env, [&] {
    auto peer = std::make_unique<AsrPeer>();
    peer->runner = std::make_unique<Seq2SeqRunner>(
        to_utf8(env, model_path),
        data_path == nullptr ? std::nullopt : std::optional<std::string>(to_utf8(env, data_path)),
        to_utf8(env, tokenizer_path));
    if (preprocessor_path != nullptr) {
      peer->preprocessor =
          std::make_unique<Module>(to_utf8(env, preprocessor_path), Module::LoadMode::Mmap);
    }
    return to_handle(std::move(peer));
  });
}

jint asrLoad(JNIEnv* env, jclass, jlong handle) {
  return guarded(env, [&] {
    const UsesThreads running;
    return static_cast<jint>(from_handle<AsrPeer>(handle).runner->load());
  });
}

jboolean asrIsLoaded(JNIEnv* env, jclass, jlong handle) {
  return guarded(env, [&]() -> jboolean {
    return from_handle<AsrPeer>(handle).runner->is_loaded() ? JNI_TRUE : JNI_FALSE;
  });
}

// The loader aborts for what is no such file; an app's user may choose any.
std::vector<float> samples_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  const auto header = llm::load_wav_header(bytes.data(), bytes.size());
  if (header == nullptr) {
    fail(Error::InvalidArgument, "expected a RIFF file of WAVE with samples: " + path);
  }
  const bool is_float = header->AudioFormat == llm::kWavFormatIeeeFloat;
  const bool is_known = (is_float || header->AudioFormat == llm::kWavFormatPcm) &&
                        (header->bitsPerSample == 32 || (header->bitsPerSample == 16 && !is_float));
  if (!is_known) {
    fail(Error::InvalidArgument, "expected samples of 16 or 32 bits, or floats of 32, in " + path +
                                     ", found format " + std::to_string(header->AudioFormat) +
                                     " with " + std::to_string(header->bitsPerSample) + " bits");
  }
  if (header->dataOffset > bytes.size() ||
      header->Subchunk2Size > bytes.size() - header->dataOffset) {
    fail(Error::InvalidArgument, "expected " + std::to_string(header->Subchunk2Size) +
                                     " bytes of samples in " + path + ", it ends before");
  }
  return llm::load_wav_audio_data(path);
}

TensorPtr features_of(const AsrPeer& peer, std::vector<float> samples) {
  const auto count = static_cast<executorch::aten::SizesType>(samples.size());
  if (peer.preprocessor == nullptr) {
    return make_tensor_ptr({1, 1, count}, std::move(samples));
  }
  const TensorPtr sound = make_tensor_ptr({count}, std::move(samples));
  const auto outputs = unwrap(peer.preprocessor->forward(*sound), "failed to preprocess");
  if (outputs.empty() || !outputs[0].isTensor()) {
    fail(Error::InvalidProgram, "expected a tensor of the preprocessor");
  }
  return clone_tensor_ptr(outputs[0].toTensor());
}

jstring asrTranscribe(JNIEnv* env, jclass, jlong handle, jstring wav_path, jlong max_new_tokens,
                      jfloat temperature, jlong start_token, jobject sink) {
  return guarded(env, [&]() -> jstring {
    AsrPeer& peer = from_handle<AsrPeer>(handle);
    const UsesThreads running;
    check(peer.runner->load(), "failed to load");
    const TensorPtr features = features_of(peer, samples_of(to_utf8(env, wav_path)));
    Seq2SeqTranscribeConfig config;
    config.max_new_tokens = max_new_tokens;
    config.temperature = temperature;
    config.decoder_start_token_id = start_token;
    TextStream stream(env, sink);
    std::string text;
    const auto tokens = peer.runner->transcribe(features, config, [&](const std::string& piece) {
      text += piece;
      stream.put(piece);
    });
    stream.finish();
    check(tokens.error(), "failed to transcribe");
    return to_java(env, text);
  });
}

}  // namespace

Natives asr_natives() {
  static const JNINativeMethod kRows[] = {
      ET_NATIVE(asrCreate,
                "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)J"),
      ET_NATIVE(asrLoad, "(J)I"),
      ET_NATIVE(asrIsLoaded, "(J)Z"),
      ET_NATIVE(asrTranscribe,
                "(JLjava/lang/String;JFJLorg/pytorch/executorch/internal/TextSink;)Ljava/lang/"
                "String;"),
  };
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::extension::jni
