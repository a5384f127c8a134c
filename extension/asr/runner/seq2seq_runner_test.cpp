// SPDX-License-Identifier: BSD-3-Clause
// Seq2SeqRunner on a toy: the next token is arithmetic on the sound, the position and the token.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/asr/runner/runner.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension;
using namespace executorch::extension::asr;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using executorch::runtime::testing::MethodBuilder;
using executorch::runtime::testing::ProgramBuilder;
using executorch::runtime::testing::TensorSpec;

namespace {

constexpr int32_t kVocabulary = 11;

// The states are the sums of the frames' bins.
void encode_out(KernelRuntimeContext&, Span<EValue*> args) {
  const Tensor features = args[0]->toTensor();
  const Tensor states = args[1]->toTensor();
  const auto* in = features.const_data_ptr<float>();
  auto* out = states.mutable_data_ptr<float>();
  const auto frames = features.size(2);
  for (ssize_t frame = 0; frame < frames; ++frame) {
    out[frame] = 0;
    for (ssize_t bin = 0; bin < features.size(1); ++bin) {
      out[frame] += in[bin * frames + frame];
    }
  }
}

int64_t next_of(int64_t token, int64_t position, const float* states) {
  return (token * 3 + position + std::lround(states[position % 4])) % kVocabulary;
}

void decode_out(KernelRuntimeContext&, Span<EValue*> args) {
  auto* out = args[3]->toTensor().mutable_data_ptr<float>();
  std::fill(out, out + kVocabulary, 0.0f);
  out[next_of(args[0]->toTensor().const_data_ptr<int64_t>()[0],
              args[2]->toTensor().const_data_ptr<int64_t>()[0],
              args[1]->toTensor().const_data_ptr<float>())] = 9;
}

const Kernel kKernels[] = {Kernel("toy::asr_encode.out", encode_out),
                           Kernel("toy::asr_decode.out", decode_out)};

int32_t add(MethodBuilder& method, std::vector<int32_t> sizes, bool is_long, bool is_input) {
  TensorSpec spec{std::move(sizes)};
  spec.planned = !is_input;
  if (is_long) {
    spec.scalar_type = executorch::runtime::testing::fb::ScalarType::LONG;
  }
  return method.add_tensor(spec);
}

class Seq2SeqRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    static const Error registered = executorch::runtime::register_kernels({kKernels, 2});
    ASSERT_EQ(registered, Error::Ok);
  }

  static std::string program(bool has_decoder = true) {
    ProgramBuilder builder;
    MethodBuilder& encoder = builder.add_method("encoder");
    const int32_t features = add(encoder, {1, 3, 4}, false, true);
    const int32_t states = add(encoder, {1, 4, 1}, false, false);
    encoder.inputs({features}).outputs({states});
    encoder.call("toy::asr_encode", "out", {features, states, states});
    if (has_decoder) {
      MethodBuilder& decoder = builder.add_method("text_decoder");
      const int32_t token = add(decoder, {1, 1}, true, true);
      const int32_t sound = add(decoder, {1, 4, 1}, false, true);
      const int32_t position = add(decoder, {1}, true, true);
      const int32_t logits = add(decoder, {1, 1, kVocabulary}, false, false);
      decoder.inputs({token, sound, position}).outputs({logits});
      decoder.call("toy::asr_decode", "out", {token, sound, position, logits, logits});
    }
    return write("seq2seq.pte", builder.build());
  }

  static std::string write(const std::string& name, const std::vector<uint8_t>& bytes) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  // The letter of each id.
  static std::string tokenizer() {
    std::string vocab;
    for (int i = 0; i < kVocabulary; ++i) {
      vocab += (i == 0 ? "" : ",") + std::string("\"") + static_cast<char>('a' + i) +
               "\":" + std::to_string(i);
    }
    const std::string text =
        R"({"added_tokens": [], "model": {"type": "WordLevel", "unk_token": "a", "vocab": {)" +
        vocab + "}}, \"decoder\": {\"type\": \"Fuse\"}}";
    return write("seq2seq.json", {text.begin(), text.end()});
  }

  // What the toy says after `start`, as far as a token of `eos`.
  static std::vector<int64_t> expected(const std::vector<float>& features, int64_t start,
                                       int64_t eos, int64_t most) {
    std::vector<float> states(4);
    for (size_t i = 0; i < features.size(); ++i) {
      states[i % 4] += features[i];
    }
    std::vector<int64_t> tokens = {start};
    for (int64_t i = 0; i < most && (i == 0 || tokens.back() != eos); ++i) {
      tokens.push_back(next_of(tokens.back(), i, states.data()));
    }
    return tokens;
  }

  const std::vector<float> features_ = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
};

}  // namespace

TEST_F(Seq2SeqRunnerTest, WritesWhatTheModelFindsBest) {
  Seq2SeqRunner runner(program(), std::nullopt, tokenizer());
  EXPECT_FALSE(runner.is_loaded());
  ASSERT_EQ(runner.load(), Error::Ok);
  EXPECT_TRUE(runner.is_loaded());
  Seq2SeqTranscribeConfig config;
  config.max_new_tokens = 9;
  config.decoder_start_token_id = 2;
  config.eos_token_ids = {100};
  std::string text;
  const auto found = runner.transcribe(make_tensor_ptr({1, 3, 4}, features_), config,
                                       [&](const std::string& piece) { text += piece; });
  ASSERT_TRUE(found.ok());
  const auto tokens = expected(features_, 2, 100, 9);
  EXPECT_EQ(*found, tokens);
  std::string letters;
  for (size_t i = 1; i < tokens.size(); ++i) {
    letters += static_cast<char>('a' + tokens[i]);
  }
  EXPECT_EQ(text, letters);
  EXPECT_EQ(runner.stats().num_prompt_tokens, 4);
  EXPECT_EQ(runner.stats().num_generated_tokens, 9);
}

TEST_F(Seq2SeqRunnerTest, EndsBehindATokenThatEndsIt) {
  Seq2SeqRunner runner(program(), std::nullopt, tokenizer());
  const auto endless = expected(features_, 0, 100, 20);
  Seq2SeqTranscribeConfig config;
  config.eos_token_ids = {endless[4]};
  const auto found = runner.transcribe(make_tensor_ptr({1, 3, 4}, features_), config);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, expected(features_, 0, endless[4], 128));
  EXPECT_LE(found->size(), 5u);
}

TEST_F(Seq2SeqRunnerTest, WhatDoesNotFitIsRefused) {
  Seq2SeqRunner runner(program(), std::nullopt, tokenizer());
  const auto features = make_tensor_ptr({1, 3, 4}, features_);
  Seq2SeqTranscribeConfig config;
  config.max_new_tokens = 0;
  EXPECT_EQ(runner.transcribe(features, config).error(), Error::InvalidArgument);
  config.max_new_tokens = 1;
  config.temperature = 3;
  EXPECT_EQ(runner.transcribe(features, config).error(), Error::InvalidArgument);
  config.temperature = 0;
  EXPECT_EQ(runner.transcribe(make_tensor_ptr({3, 4}, features_), config).error(),
            Error::InvalidArgument);
  EXPECT_EQ(runner.transcribe(nullptr, config).error(), Error::InvalidArgument);
  EXPECT_EQ(runner.transcribe(make_tensor_ptr({1, 3, 4}, std::vector<int64_t>(12)), config).error(),
            Error::InvalidArgument);
  EXPECT_TRUE(runner.transcribe(features, config).ok()) << "and nothing else is broken";
}

TEST_F(Seq2SeqRunnerTest, WhatIsMissingIsTold) {
  EXPECT_EQ(Seq2SeqRunner(program(false), std::nullopt, tokenizer()).load(),
            Error::InvalidArgument);
  EXPECT_EQ(AsrRunner(program(), std::nullopt, "/nowhere.json").load(), Error::Internal);
  EXPECT_NE(Seq2SeqRunner("/nowhere.pte", std::nullopt, tokenizer()).load(), Error::Ok);
}
