// SPDX-License-Identifier: BSD-3-Clause
// MultimodalRunner on toy encoders and a toy decoder: each kind of input, turns, limits, wrong
// inputs.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/multimodal_runner.h>
#include <executorch/extension/llm/runner/test/toy_multimodal.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::extension::Module;
using testing::HasSubstr;
using Tokens = std::vector<uint64_t>;

namespace {

class MultimodalRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    RecordProperty("req", "LLM-047");
  }

  std::unique_ptr<MultimodalRunner> make(const ToyMultimodalOptions& options = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return create_multimodal_runner(write_multimodal_toy(test->name(), options), byte_tokenizer());
  }

  std::string text(MultimodalRunner& runner, const std::vector<MultimodalInput>& inputs,
                   const GenerationConfig& config) {
    std::string pieces;
    error_ = runner.generate(
        inputs, config, [&](const std::string& piece) { pieces += piece; },
        [&](const Stats& stats) { num_prompt_tokens_ = stats.num_prompt_tokens; });
    return pieces;
  }

  Error error_ = Error::Ok;
  int64_t num_prompt_tokens_ = -1;
};

MultimodalInput image() {
  return make_image_input(Image(std::vector<float>{70, 71, 72, 73}, 2, 2, 1));
}
MultimodalInput audio() {
  return make_audio_input(Audio(std::vector<float>{80, 81, 82}, 1, 1, 3));
}

std::string expected(const Tokens& context, size_t count) {
  return toy_text(toy_answer(context, count));
}

}  // namespace

TEST_F(MultimodalRunnerTest, InputsOfAllKindsComeInTheirOrder) {
  auto runner = make();
  EXPECT_FALSE(runner->is_loaded());
  const std::vector<MultimodalInput> inputs = {make_text_input("ab"), image(), audio(),
                                               make_token_input(Tokens{90, 91})};
  const Tokens context = {'a', 'b', 70, 71, 72, 73, 80, 81, 82, 90, 91};
  EXPECT_EQ(text(*runner, inputs, answer_of(5)), expected(context, 5));
  EXPECT_EQ(error_, Error::Ok);
  EXPECT_TRUE(runner->is_loaded());
  EXPECT_EQ(num_prompt_tokens_, 11);
  EXPECT_EQ(runner->position(), 15);
}

TEST_F(MultimodalRunnerTest, LongTextsAreEmbeddedInChunks) {
  auto runner = make();
  const std::string prompt = "twenty bytes of text";  // eight in a call
  EXPECT_EQ(text(*runner, {make_text_input(prompt)}, answer_of(3)),
            expected(toy_tokens(prompt), 3));
}

TEST_F(MultimodalRunnerTest, BytesGoToAnEncoderOfBytes) {
  ToyMultimodalOptions options;
  options.takes_bytes = true;
  auto runner = make(options);
  const auto bytes = make_image_input(Image(std::vector<uint8_t>{70, 71, 72, 73}, 2, 2, 1));
  EXPECT_EQ(text(*runner, {bytes}, answer_of(3)), expected({70, 71, 72, 73}, 3));
  text(*runner, {image()}, answer_of(3));
  EXPECT_EQ(error_, Error::InvalidArgument);
}

TEST_F(MultimodalRunnerTest, BeginTokensComeFirstInAContext) {
  auto runner = make();
  GenerationConfig config = answer_of(2);
  config.num_bos = 1;
  const std::string first = text(*runner, {image(), make_text_input("x")}, config);
  EXPECT_EQ(first, expected({1, 70, 71, 72, 73, 'x'}, 2));
  const Tokens context = {1, 70, 71, 72, 73, 'x', static_cast<uint64_t>(first[0]), 'y'};
  EXPECT_EQ(text(*runner, {make_text_input("y")}, config), expected(context, 2));
  runner->reset();
  EXPECT_EQ(text(*runner, {make_text_input("y")}, config), expected({1, 'y'}, 2));
}

TEST_F(MultimodalRunnerTest, PrefilledInputsAreInTheContext) {
  auto runner = make();
  const auto next = runner->prefill({image()});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next, toy_next({70, 71, 72, 73}));
  EXPECT_EQ(runner->position(), 4);
  EXPECT_EQ(text(*runner, {make_text_input("z")}, answer_of(2)),
            expected({70, 71, 72, 73, 'z'}, 2));
  EXPECT_EQ(*runner->prefill(std::vector<MultimodalInput>{}), 0u);
}

TEST_F(MultimodalRunnerTest, TheEchoIsTheLastText) {
  auto runner = make();
  GenerationConfig config = answer_of(1);
  config.echo = true;
  EXPECT_EQ(text(*runner, {image(), make_text_input("q")}, config),
            "q" + expected({70, 71, 72, 73, 'q'}, 1));
}

TEST_F(MultimodalRunnerTest, TheEndEndsIt) {
  const Tokens answer = toy_answer({'e'}, 4);
  ToyMultimodalOptions options;
  options.eos_ids = {static_cast<int64_t>(answer[2])};
  ASSERT_NE(answer[2], answer[1]);
  ASSERT_NE(answer[2], answer[0]);
  auto runner = make(options);
  EXPECT_EQ(text(*runner, {make_text_input("e")}, answer_of(9)), toy_text(answer).substr(0, 3));
  runner->reset();
  GenerationConfig hidden = answer_of(9);
  hidden.hide_eos = true;
  EXPECT_EQ(text(*runner, {make_text_input("e")}, hidden), toy_text(answer).substr(0, 2));
}

TEST_F(MultimodalRunnerTest, TheCallbackStopsIt) {
  auto runner = make();
  int count = 0;
  ASSERT_EQ(runner->generate("s", answer_of(20),
                             [&](const std::string&) {
                               if (++count == 3) {
                                 runner->stop();
                               }
                             }),
            Error::Ok);
  EXPECT_EQ(count, 3);
}

TEST_F(MultimodalRunnerTest, AnAnswersFirstTokenIsPenalizedToo) {
  // The toy answers "4" with one token twice. A penalty without end leaves token 0, the first of
  // those worth nothing.
  const Tokens twice = toy_answer({'4'}, 2);
  ASSERT_EQ(twice[0], twice[1]);
  auto runner = make();
  GenerationConfig config = answer_of(2);
  EXPECT_EQ(text(*runner, {make_text_input("4")}, config), toy_text(twice));
  runner->reset();
  config.repetition_penalty = std::numeric_limits<float>::infinity();
  const std::string found = text(*runner, {make_text_input("4")}, config);
  EXPECT_EQ(found, toy_text({twice[0], 0}));
  runner->reset();
  EXPECT_EQ(text(*runner, {make_text_input("4")}, config), found);
}

TEST_F(MultimodalRunnerTest, SaysWhyAnAnswerEnded) {
  auto runner = make();
  EXPECT_EQ(runner->finish_reason(), FinishReason::None);
  text(*runner, {image()}, answer_of(2));
  EXPECT_EQ(runner->finish_reason(), FinishReason::Length);
  text(*runner, {make_text_input("a")}, answer_of(-1));
  EXPECT_EQ(runner->finish_reason(), FinishReason::ContextFull);
}

TEST_F(MultimodalRunnerTest, AFullContextIsTold) {
  auto runner = make();
  const std::string prompt(30, 'a');
  EXPECT_EQ(text(*runner, {make_text_input(prompt)}, answer_of(-1)),
            expected(toy_tokens(prompt), 2));
  testing::internal::CaptureStderr();
  text(*runner, {make_text_input("b")}, answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("No token may be generated"));
}

TEST_F(MultimodalRunnerTest, WrongInputsAreRefused) {
  auto runner = make();
  EXPECT_EQ(runner->generate("", answer_of(1)), Error::InvalidArgument);
  text(*runner, {}, answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  text(*runner, {make_raw_audio_input(RawAudio{{1}, 1, 1, 1})}, answer_of(1));
  EXPECT_EQ(error_, Error::NotSupported);
  text(*runner, {make_text_input("\x7f")}, answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  text(*runner, {make_token_input(Tokens{})}, answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  GenerationConfig hot = answer_of(1);
  hot.temperature = 2.5f;
  text(*runner, {make_text_input("a")}, hot);
  EXPECT_EQ(error_, Error::InvalidArgument);
  EXPECT_EQ(runner->position(), 0);
}

TEST_F(MultimodalRunnerTest, EncodersThatAreNotThereAreMissedWhenNeeded) {
  ToyMultimodalOptions options;
  options.has_vision = options.has_audio = false;
  auto runner = make(options);
  EXPECT_EQ(text(*runner, {make_text_input("a")}, answer_of(1)), expected({'a'}, 1));
  text(*runner, {image()}, answer_of(1));
  EXPECT_NE(error_, Error::Ok);
  text(*runner, {audio()}, answer_of(1));
  EXPECT_NE(error_, Error::Ok);
  EXPECT_EQ(create_multimodal_runner("/nowhere.pte", byte_tokenizer()), nullptr);
  EXPECT_EQ(create_multimodal_runner("/nowhere.pte", nullptr), nullptr);
}
