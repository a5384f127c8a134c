// SPDX-License-Identifier: BSD-3-Clause
// Steps of several sessions: what each gets, which share a call, and whose error one is.
#include <executorch/extension/llm/runner/shared_decoder.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/extension/llm/runner/text_llm_engine.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::extension::Module;
using executorch::runtime::Error;

namespace {

constexpr int32_t kSessions = 3, kContext = 64, kPerCall = 16;

ToyOptions options() {
  ToyOptions made;
  made.sessions = kSessions;
  made.max_context_len = made.max_seq_len = kContext;
  made.tokens_per_call = kPerCall;
  return made;
}

class SharedDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    register_toy_kernel();
  }

  static std::string file(const ToyOptions& toy) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return write_toy(std::string("shared_") + test->name(), toy);
  }

  static std::unique_ptr<SharedDecoder> decoder(const ToyOptions& toy = options()) {
    return std::make_unique<SharedDecoder>(std::make_unique<Module>(file(toy)), "forward",
                                           kSessions, kContext, kPerCall);
  }
};

// The best token after a step.
uint64_t best_of(const SharedDecoder::Step& step) {
  const auto* logits = step.logits->const_data_ptr<float>();
  return static_cast<uint64_t>(std::max_element(logits, logits + kToyVocabulary) - logits);
}

SharedDecoder::Step step_of(int64_t session, const std::string& text, int64_t start_pos = 0) {
  SharedDecoder::Step step;
  step.session = session;
  step.tokens.assign(text.begin(), text.end());
  step.start_pos = start_pos;
  return step;
}

// `count` tokens after a prompt, one step each.
std::vector<uint64_t> decoded(SharedDecoder& shared, int64_t session, const std::string& prompt,
                              size_t count) {
  std::vector<uint64_t> made;
  auto step = step_of(session, prompt);
  while (made.size() < count) {
    EXPECT_EQ(shared.step(step), Error::Ok);
    made.push_back(best_of(step));
    step.start_pos += static_cast<int64_t>(step.tokens.size());
    step.tokens = {static_cast<int64_t>(made.back())};
  }
  return made;
}

}  // namespace

TEST_F(SharedDecoderTest, ThreadsGetWhatTheyGetAlone) {
  const auto shared = decoder();
  const std::vector<std::string> prompts = {"one", "another", "a third text"};
  int64_t steps = 0, calls = 0;
  for (int round = 0; round < 200 && (round < 5 || calls == steps); ++round) {
    const int64_t before = toy_calls().count;
    std::vector<std::vector<uint64_t>> found(prompts.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < prompts.size(); ++i) {
      threads.emplace_back(
          [&, i] { found[i] = decoded(*shared, static_cast<int64_t>(i), prompts[i], 40); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(found[i], toy_answer(toy_tokens(prompts[i]), 40));
    }
    steps += 40 * static_cast<int64_t>(prompts.size());
    calls += toy_calls().count - before;
  }
  EXPECT_LT(calls, steps) << "some steps shared a call";
}

TEST_F(SharedDecoderTest, SessionsAreTakenAndGivenBack) {
  const auto shared = decoder();
  for (int64_t i = 0; i < kSessions; ++i) {
    EXPECT_EQ(shared->take(), i);
  }
  EXPECT_EQ(shared->take(), -1);
  shared->give_back(1);
  EXPECT_EQ(shared->take(), 1);
}

TEST_F(SharedDecoderTest, StepsWithoutRoomAreRefused) {
  const auto shared = decoder();
  auto none = step_of(0, "");
  EXPECT_EQ(shared->step(none), Error::InvalidArgument);
  auto many = step_of(0, std::string(kPerCall + 1, 'x'));
  EXPECT_EQ(shared->step(many), Error::InvalidArgument);
  auto beyond = step_of(0, "ab", kContext - 1);
  EXPECT_EQ(shared->step(beyond), Error::InvalidArgument);
  auto before = step_of(0, "a", -1);
  EXPECT_EQ(shared->step(before), Error::InvalidArgument);
  auto last = step_of(0, "a", kContext - 1);
  EXPECT_EQ(shared->step(last), Error::Ok);
}

TEST_F(SharedDecoderTest, AnErrorIsThatOfItsStep) {
  const auto shared = decoder();
  std::vector<std::thread> threads;
  for (int64_t session = 0; session < 2; ++session) {
    threads.emplace_back([&, session] {
      EXPECT_EQ(decoded(*shared, session, "fine", 30), toy_answer(toy_tokens("fine"), 30));
    });
  }
  for (int i = 0; i < 30; ++i) {
    auto bad = step_of(2, "x");
    bad.tokens = {kToyBadToken};
    EXPECT_EQ(shared->step(bad), Error::InvalidArgument);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(SharedDecoderTest, OtherMethodsAreTold) {
  ToyOptions two = options();
  two.num_outputs = 2;
  auto step = step_of(0, "a");
  EXPECT_EQ(decoder(two)->step(step), Error::InvalidProgram);
  SharedDecoder missing(std::make_unique<Module>("missing.pte"), "forward", kSessions, kContext,
                        kPerCall);
  EXPECT_NE(missing.step(step), Error::Ok);
  EXPECT_FALSE(missing.is_loaded());
}

TEST_F(SharedDecoderTest, SessionsOfAnEngineShareIt) {
  auto made = create_text_llm_engine(file(options()), byte_tokenizer());
  ASSERT_TRUE(made.ok());
  LLMEngine& engine = **made;
  EXPECT_EQ(engine.metadata().at(kMaxSessions), kSessions);
  std::vector<std::unique_ptr<LLMSession>> sessions;
  for (int i = 0; i < kSessions + 2; ++i) {  // the last ones have caches of their own
    auto session = engine.create_session();
    ASSERT_TRUE(session.ok());
    sessions.push_back(std::move(*session));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sessions.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string prompt = "text " + std::to_string(i);
      EXPECT_EQ(sessions[i]->prefill_tokens(toy_tokens(prompt)), Error::Ok);
      std::string text;
      for (int k = 0; k < 10; ++k) {
        const auto next = sessions[i]->decode_one({});
        EXPECT_TRUE(next.ok());
        text += next->text_piece;
      }
      EXPECT_EQ(text, toy_text(toy_answer(toy_tokens(prompt), 10)));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const auto capacity = engine.serving_capacity();
  EXPECT_GE(capacity.estimated_bytes_per_session, static_cast<int64_t>(kContext * sizeof(int64_t)));
  EXPECT_LT(capacity.estimated_bytes_per_session,
            2 * kContext * static_cast<int64_t>(sizeof(int64_t)) + 4096);
}

TEST_F(SharedDecoderTest, ARunnerTakesOneSession) {
  const auto runner = create_text_llm_runner(file(options()), byte_tokenizer());
  ASSERT_NE(runner, nullptr);
  GenerationConfig config;
  config.echo = false;
  config.silent = true;
  config.max_new_tokens = 12;
  std::string text;
  const std::string prompt = "a prompt that is longer than a call";
  ASSERT_EQ(runner->generate(prompt, config, [&](const std::string& piece) { text += piece; }),
            Error::Ok);
  EXPECT_EQ(text, toy_text(toy_answer(toy_tokens(prompt), 12)));
  EXPECT_EQ(runner->save_state(testing::TempDir() + "/shared.state"), Error::NotSupported);
  EXPECT_EQ(runner->restore_state(testing::TempDir() + "/shared.state"), Error::NotSupported);
}
