// SPDX-License-Identifier: BSD-3-Clause
// TextLLMRunner on a toy decoder: prompts, turns, positions, stopping, full contexts, statistics.
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::runtime::Error;
using testing::HasSubstr;
using testing::Not;

namespace {

class TextLLMRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    register_toy_kernel();
  }

  std::unique_ptr<TextLLMRunner> make(const ToyOptions& options = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return create_text_llm_runner(write_toy(test->name(), options), byte_tokenizer());
  }

  // What the callback got.
  std::string text(TextLLMRunner& runner, const std::string& prompt, GenerationConfig config) {
    std::string pieces;
    error_ = runner.generate(
        prompt, config, [&](const std::string& piece) { pieces += piece; },
        [&](const Stats& stats) {
          num_prompt_tokens_ = stats.num_prompt_tokens;
          num_generated_tokens_ = stats.num_generated_tokens;
        });
    return pieces;
  }

  Error error_ = Error::Ok;
  int64_t num_prompt_tokens_ = -1;
  int64_t num_generated_tokens_ = -1;
};

std::string expected(const std::string& context, size_t count) {
  return toy_text(toy_answer(toy_tokens(context), count));
}

}  // namespace

TEST_F(TextLLMRunnerTest, WritesWhatTheModelFindsBest) {
  RecordProperty("req", "LLM-035 LLM-036 LLM-038");
  auto runner = make();
  ASSERT_NE(runner, nullptr);
  EXPECT_FALSE(runner->is_loaded());
  ASSERT_EQ(runner->load(), Error::Ok);
  EXPECT_TRUE(runner->is_loaded());
  EXPECT_EQ(text(*runner, "hello", answer_of(6)), expected("hello", 6));
  EXPECT_EQ(error_, Error::Ok);
  EXPECT_EQ(runner->finish_reason(), FinishReason::Length);
  EXPECT_EQ(num_prompt_tokens_, 5);
  EXPECT_EQ(num_generated_tokens_, 5) << "the first token is not counted";
}

TEST_F(TextLLMRunnerTest, EveryKindOfProgramGivesTheSameText) {
  ToyOptions one_by_one;
  one_by_one.is_dynamic = false;
  ToyOptions without_cache;
  without_cache.use_kv_cache = false;
  without_cache.tokens_per_call = 32;
  ToyOptions positions;
  positions.all_positions = true;
  ToyOptions chunks;
  chunks.tokens_per_call = 3;
  for (const ToyOptions& options : {ToyOptions{}, one_by_one, without_cache, positions, chunks}) {
    auto runner = make(options);
    EXPECT_EQ(text(*runner, "programs", answer_of(5)), expected("programs", 5));
    EXPECT_EQ(error_, Error::Ok);
  }
}

TEST_F(TextLLMRunnerTest, AProgramWithoutCacheKeepsItsTurns) {
  ToyOptions options;
  options.use_kv_cache = false;
  options.tokens_per_call = 32;
  auto runner = make(options);
  const std::string first = text(*runner, "one", answer_of(3));
  EXPECT_EQ(text(*runner, "two", answer_of(3)), expected("one" + first.substr(0, 2) + "two", 3));
}

TEST_F(TextLLMRunnerTest, BeginAndEndTokensGoAroundThePrompt) {
  auto runner = make();
  GenerationConfig config = answer_of(2);
  config.num_bos = 2;
  config.num_eos = 1;
  EXPECT_EQ(text(*runner, "ab", config), expected("\1\1ab\2", 2));
  EXPECT_EQ(num_prompt_tokens_, 5);
}

TEST_F(TextLLMRunnerTest, TheEchoComesFirst) {
  auto runner = make();
  GenerationConfig config = answer_of(2);
  config.echo = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(text(*runner, "prompt", config), "prompt" + expected("prompt", 2));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("prompt" + expected("prompt", 2)));
}

TEST_F(TextLLMRunnerTest, APromptOfOneTokenIsEnough) {
  auto runner = make();
  EXPECT_EQ(text(*runner, "x", answer_of(3)), expected("x", 3));
}

TEST_F(TextLLMRunnerTest, AnEmptyPromptNeedsSomethingToGoOnFrom) {
  auto runner = make();
  text(*runner, "", answer_of(3));
  EXPECT_EQ(error_, Error::InvalidState);
  const auto next = runner->prefill("start");
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next, toy_next(toy_tokens("start")));
  EXPECT_EQ(text(*runner, "", answer_of(3)), expected("start", 3));
}

TEST_F(TextLLMRunnerTest, AnInterruptedAnswerGoesOn) {
  auto runner = make();
  const std::string whole = expected("resume", 9);
  EXPECT_EQ(text(*runner, "resume", answer_of(4)), whole.substr(0, 4));
  EXPECT_EQ(text(*runner, "", answer_of(2)), whole.substr(4, 2));
  EXPECT_EQ(text(*runner, "", answer_of(3)), whole.substr(6));
}

TEST_F(TextLLMRunnerTest, ASecondPromptComesBehindTheFirstAnswer) {
  auto runner = make();
  const std::string first = text(*runner, "one", answer_of(4));
  ASSERT_EQ(runner->context().size(), 6u) << "three and three: nothing was computed from the last";
  toy_calls().reset();
  EXPECT_EQ(text(*runner, "two", answer_of(4)), expected("one" + first.substr(0, 3) + "two", 4));
  EXPECT_EQ(toy_calls().count, 4) << "the first turn is in the cache";
  runner->reset();
  EXPECT_EQ(text(*runner, "two", answer_of(4)), expected("two", 4));
}

TEST_F(TextLLMRunnerTest, GenerationGoesOnFromAPosition) {
  RecordProperty("req", "LLM-036");
  auto runner = make();
  text(*runner, "shared beginning", answer_of(4));
  std::string pieces;
  const auto gather = [&](const std::string& piece) { pieces += piece; };
  ASSERT_EQ(runner->generate_from_pos("end", 7, answer_of(3), gather), Error::Ok);
  EXPECT_EQ(pieces, expected("shared end", 3));
  EXPECT_EQ(runner->generate_from_pos("x", 33, answer_of(3)), Error::InvalidArgument);
  EXPECT_EQ(runner->generate_from_pos("x", -1, answer_of(3)), Error::InvalidArgument);
  IRunner& any = *runner;
  pieces.clear();
  ASSERT_EQ(any.generate_from_pos("anew", 0, answer_of(3), gather, {}), Error::Ok);
  EXPECT_EQ(pieces, expected("anew", 3));
}

TEST_F(TextLLMRunnerTest, ATokenThatEndsTheAnswerEndsIt) {
  const auto answer = toy_answer(toy_tokens("question"), 6);
  ToyOptions options;
  options.eos_ids = {static_cast<int64_t>(answer[3]), 3};
  size_t end = 0;
  while (answer[end] != answer[3]) {
    ++end;
  }
  auto runner = make(options);
  const std::string whole = toy_text(answer);
  EXPECT_EQ(text(*runner, "question", answer_of(6)), whole.substr(0, end + 1));
  EXPECT_EQ(runner->finish_reason(), FinishReason::EndOfText);
  text(*runner, "", answer_of(6));
  EXPECT_EQ(error_, Error::InvalidState) << "an answer that ended does not go on";
  runner->reset();
  GenerationConfig config = answer_of(6);
  config.ignore_eos = true;
  EXPECT_EQ(text(*runner, "question", config), whole);
}

TEST_F(TextLLMRunnerTest, TheFirstTokenMayEndTheAnswer) {
  ToyOptions options;
  options.eos_ids = {static_cast<int64_t>(toy_next(toy_tokens("over")))};
  auto runner = make(options);
  EXPECT_EQ(text(*runner, "over", answer_of(6)), expected("over", 1));
  EXPECT_EQ(runner->finish_reason(), FinishReason::EndOfText);
  EXPECT_EQ(num_generated_tokens_, 0);
}

TEST_F(TextLLMRunnerTest, LongPromptsAreFedInChunks) {
  auto runner = make();
  ASSERT_EQ(runner->load(), Error::Ok);
  toy_calls().reset();
  const std::string prompt = "a prompt of more than one call";  // 30 tokens, up to 16 in a call
  EXPECT_EQ(text(*runner, prompt, answer_of(1)), expected(prompt, 1));
  EXPECT_EQ(toy_calls().count, 2);
  EXPECT_EQ(toy_calls().last_num_tokens, 15);
}

TEST_F(TextLLMRunnerTest, APromptLongerThanTheContextIsRefused) {
  auto runner = make();
  testing::internal::CaptureStderr();
  text(*runner, std::string(32, 'a'), answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("The context is full: expected fewer than 32 tokens, found 0 in it and 32 "
                        "in the prompt"));
  EXPECT_TRUE(runner->context().empty()) << "nothing was done";
  EXPECT_EQ(text(*runner, std::string(31, 'a'), answer_of(1)), expected(std::string(31, 'a'), 1));
}

TEST_F(TextLLMRunnerTest, AFullContextEndsTheAnswerAndSaysSo) {
  auto runner = make();
  testing::internal::CaptureStderr();
  EXPECT_EQ(text(*runner, std::string(28, 'a'), answer_of(-1)), expected(std::string(28, 'a'), 4));
  EXPECT_EQ(error_, Error::Ok);
  EXPECT_EQ(runner->finish_reason(), FinishReason::ContextFull);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("The context of 32 tokens is full: reset() begins another"));
  text(*runner, "b", answer_of(1));
  EXPECT_EQ(error_, Error::InvalidArgument);
  runner->reset();
  EXPECT_EQ(text(*runner, "b", answer_of(1)), expected("b", 1));
}

TEST_F(TextLLMRunnerTest, CachesThatDoNotKeepAllPositionsCannotGoBack) {
  ToyOptions options;
  options.max_seq_len = 16;  // less than the context: a window
  auto runner = make(options);
  // A window would take more tokens; this cache of 32 rows is full before.
  const std::string prompt(20, 'a');
  EXPECT_EQ(text(*runner, prompt, answer_of(-1)), expected(prompt, 13));
  EXPECT_EQ(runner->finish_reason(), FinishReason::ContextFull);
  EXPECT_EQ(runner->rewind(5), Error::NotSupported);
  EXPECT_EQ(runner->rewind(0), Error::Ok);
  EXPECT_EQ(text(*runner, "anew", answer_of(2)), expected("anew", 2));
}

TEST_F(TextLLMRunnerTest, TheSequenceLengthCountsThePromptToo) {
  auto runner = make();
  GenerationConfig config = answer_of(-1);
  config.seq_len = 8;
  EXPECT_EQ(text(*runner, "hello", config), expected("hello", 3));
  EXPECT_EQ(runner->finish_reason(), FinishReason::Length);
  runner->reset();
  config.seq_len = 5;
  text(*runner, "hello", config);
  EXPECT_EQ(error_, Error::InvalidArgument) << "no room for an answer";
}

TEST_F(TextLLMRunnerTest, TheCallbackStopsIt) {
  auto runner = make();
  std::string pieces;
  const Error error = runner->generate("stop", answer_of(20), [&](const std::string& piece) {
    pieces += piece;
    if (pieces.size() == 3) {
      runner->stop();
    }
  });
  EXPECT_EQ(error, Error::Ok);
  EXPECT_EQ(pieces, expected("stop", 3));
  EXPECT_EQ(runner->finish_reason(), FinishReason::Stopped);
  EXPECT_EQ(text(*runner, "", answer_of(2)), expected("stop", 5).substr(3)) << "and it goes on";
}

TEST_F(TextLLMRunnerTest, TheFirstPieceStopsIt) {
  auto runner = make();
  ASSERT_EQ(runner->generate("stop", answer_of(20), [&](const std::string&) { runner->stop(); }),
            Error::Ok);
  EXPECT_EQ(runner->context().size(), 4u);
  EXPECT_EQ(runner->finish_reason(), FinishReason::Stopped);
}

TEST_F(TextLLMRunnerTest, AnotherThreadStopsIt) {
  RecordProperty("req", "LLM-036");
  ToyOptions options;
  options.max_context_len = 30000;
  options.max_seq_len = 30000;
  auto runner = make(options);
  ASSERT_EQ(runner->load(), Error::Ok);
  std::atomic<int> count{0};
  std::thread other([&] {
    while (count.load() < 3) {
      std::this_thread::yield();
    }
    runner->stop();
  });
  GenerationConfig config = answer_of(-1);
  config.warming = true;  // nothing on the terminal
  EXPECT_EQ(runner->generate("long", config, [&](const std::string&) { ++count; }), Error::Ok);
  other.join();
  EXPECT_EQ(runner->finish_reason(), FinishReason::Stopped);
  EXPECT_LT(count.load(), 29000);
}

TEST_F(TextLLMRunnerTest, StoppingWhatIsNotLoadedSaysSo) {
  auto runner = make();
  testing::internal::CaptureStderr();
  runner->stop();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("has no effect"));
}

TEST_F(TextLLMRunnerTest, WarmupPrintsNoTokensAndForgets) {
  RecordProperty("req", "LLM-039");
  auto runner = make();
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  ASSERT_EQ(runner->warmup("Hello world", 10), Error::Ok);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("Doing a warmup run..."));
  EXPECT_THAT(log, HasSubstr("Warmup run finished!"));
  EXPECT_THAT(log, Not(HasSubstr("Prompt Tokens")));
  EXPECT_TRUE(runner->context().empty());
  EXPECT_EQ(text(*runner, "after", answer_of(3)), expected("after", 3));
  // Counts are of this prompt alone, times begin behind the warmup, and loading keeps its own.
  const std::string warmed = "Hello world";
  EXPECT_EQ(num_prompt_tokens_, 5);
  EXPECT_EQ(num_generated_tokens_, 2);
  long begun = 0, loaded = 0, sampled = -1;
  const auto keep = [&](const Stats& stats) {
    begun = stats.inference_start_ms;
    loaded = stats.model_load_end_ms;
    sampled = stats.aggregate_sampling_time_ms;
  };
  const auto ignore = [](const std::string&) {};
  ASSERT_EQ(runner->warmup(warmed, 10), Error::Ok);
  const long before = time_in_ms();
  ASSERT_EQ(runner->generate("again", answer_of(2), ignore, keep), Error::Ok);
  EXPECT_GE(begun, before);
  EXPECT_GT(loaded, 0);
  EXPECT_LE(loaded, before);
  EXPECT_LE(sampled, time_in_ms() - before);
}

TEST_F(TextLLMRunnerTest, TheReportFollowsTheText) {
  RecordProperty("req", "LLM-040");
  auto runner = make();
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  text(*runner, "report", answer_of(3));
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(out, HasSubstr(expected("report", 3) + "\nPyTorchObserver {"));
  EXPECT_THAT(out,
              HasSubstr("\"prompt_tokens\":6,\"generated_tokens\":2,\"model_load_start_ms\":"));
  EXPECT_THAT(log, HasSubstr("RSS after loading model: "));
  EXPECT_THAT(log, HasSubstr("\tPrompt Tokens: 6    Generated Tokens: 2"));
  EXPECT_THAT(log, HasSubstr("\tTime to first generated token:\t"));
}

TEST_F(TextLLMRunnerTest, TokensAreInputsToo) {
  auto runner = make();
  const std::vector<MultimodalInput> inputs = {make_text_input("te"),
                                               make_token_input(toy_tokens("xt"))};
  std::string pieces;
  ASSERT_EQ(runner->generate(inputs, answer_of(3), [&](const std::string& p) { pieces += p; }),
            Error::Ok);
  EXPECT_EQ(pieces, expected("text", 3));
  runner->reset();
  ASSERT_TRUE(runner->prefill(inputs, 1, 0).ok());
  EXPECT_EQ(toy_text(runner->context()), "\1text");
  EXPECT_EQ(runner->prefill({make_image_input(Image{})}).error(), Error::NotSupported);
  EXPECT_EQ(runner->prefill(std::vector<MultimodalInput>{}).error(), Error::InvalidArgument);
}

TEST_F(TextLLMRunnerTest, WrongArgumentsAreRefused) {
  auto runner = make();
  GenerationConfig hot = answer_of(3);
  hot.temperature = 2.5f;
  text(*runner, "x", hot);
  EXPECT_EQ(error_, Error::InvalidArgument);
  GenerationConfig penalty = answer_of(3);
  penalty.repetition_penalty = 0;
  text(*runner, "x", penalty);
  EXPECT_EQ(error_, Error::InvalidArgument);
  GenerationConfig frequency = answer_of(3);
  frequency.frequency_penalty = std::nanf("");
  text(*runner, "x", frequency);
  EXPECT_EQ(error_, Error::InvalidArgument);
  text(*runner, "\x7f", answer_of(3));
  EXPECT_EQ(error_, Error::InvalidArgument);
  EXPECT_TRUE(runner->context().empty());
}

TEST_F(TextLLMRunnerTest, SeedsAndPenaltiesReachTheSampler) {
  const auto sampled = [&](uint64_t seed) {
    auto runner = make();
    GenerationConfig config = answer_of(20);
    config.temperature = 1;
    config.top_p = 1;
    config.seed = seed;
    return text(*runner, "seed", config);
  };
  // The best token has a logit of 10 among 128: e^10 / (e^10 + 127) = 0.994. Tokens without text
  // end the run with an error, so the texts may be short.
  EXPECT_EQ(sampled(11), sampled(11));
  EXPECT_EQ(sampled(0), sampled(0));
  auto runner = make();
  GenerationConfig config = answer_of(3);
  config.repetition_penalty = 1e9f;
  // What was said is worth nothing: token 0 is then the first of the best unless the model's is
  // new.
  const std::string found = text(*runner, "aaa", config);
  const uint64_t first = toy_next(toy_tokens("aaa"));
  EXPECT_EQ(found[0], first == 'a' ? '\0' : static_cast<char>(first));
}

TEST_F(TextLLMRunnerTest, WhatIsForgottenIsNoLongerPenalized) {
  GenerationConfig config = answer_of(1);
  config.repetition_penalty = 1e9f;
  auto runner = make();
  const std::string first = text(*runner, "aab", config);
  ASSERT_EQ(runner->rewind(2), Error::Ok);
  EXPECT_EQ(text(*runner, "b", config), first);
}

TEST_F(TextLLMRunnerTest, AnswersArePenalizedEachForItself) {
  // The best logit is 10, all others are 0: a token that was said once is worth -90.
  constexpr size_t kTokens = 24;
  const auto distinct = [](const std::string& answer) {
    return std::set<char>(answer.begin(), answer.end()).size();
  };
  GenerationConfig config = answer_of(kTokens);
  auto runner = make();
  ASSERT_LT(distinct(text(*runner, "x", config)), kTokens);
  runner->reset();
  config.presence_penalty = 100;
  const std::string first = text(*runner, "x", config);
  EXPECT_EQ(distinct(first), kTokens);
  runner->reset();
  EXPECT_EQ(text(*runner, "x", config), first);
}

TEST_F(TextLLMRunnerTest, ATemperatureOfTheRunnerWins) {
  auto path = write_toy("temperature");
  auto runner = create_text_llm_runner(path, byte_tokenizer(), std::nullopt, 0.0f);
  GenerationConfig config = answer_of(4);
  config.temperature = 1;
  EXPECT_EQ(text(*runner, "cold", config), expected("cold", 4));
}

TEST_F(TextLLMRunnerTest, ProgramsThatAreNoDecodersAreRefused) {
  ToyOptions options;
  options.num_outputs = 2;
  auto runner = make(options);
  text(*runner, "x", answer_of(3));
  EXPECT_EQ(error_, Error::InvalidProgram);
  EXPECT_EQ(create_text_llm_runner("/nowhere.pte", byte_tokenizer()), nullptr);
  EXPECT_EQ(create_text_llm_runner(write_toy("good"), nullptr), nullptr);
  EXPECT_EQ(create_text_llm_runner(write_toy("good"), std::make_unique<ByteTokenizer>(false)),
            nullptr);
  auto other =
      create_text_llm_runner(write_toy("good"), byte_tokenizer(), std::nullopt, -1.0f, "backward");
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other->load(), Error::Ok);
}

TEST_F(TextLLMRunnerTest, PromptLookupMakesTheSameAnswerInFewerCalls) {
  ToyOptions options;
  options.all_logits = true;
  options.max_context_len = options.max_seq_len = 400;
  // The toy's answers come round: what follows a byte is decided by its hash.
  auto runner = make(options);
  const std::string plain = text(*runner, "aaaaaa", answer_of(300));
  EXPECT_EQ(plain, expected("aaaaaa", 300));
  runner->reset();
  for (const int32_t most : {1, 4, 100}) {
    GenerationConfig config = answer_of(300);
    config.prompt_lookup = most;
    const int64_t before = toy_calls().count;
    EXPECT_EQ(text(*runner, "aaaaaa", config), plain) << most;
    EXPECT_LT(toy_calls().count - before, 300) << most;
    EXPECT_EQ(runner->finish_reason(), FinishReason::Length);
    EXPECT_EQ(toy_text(runner->context()), "aaaaaa" + plain.substr(0, 299));
    EXPECT_EQ(num_generated_tokens_, 299);
    runner->reset();
  }
  GenerationConfig until_full = answer_of(-1);
  until_full.prompt_lookup = 8;
  EXPECT_EQ(text(*runner, "aaaaaa", until_full), expected("aaaaaa", 394));
  EXPECT_EQ(runner->finish_reason(), FinishReason::ContextFull);
}

TEST_F(TextLLMRunnerTest, PromptLookupEndsWhereTheAnswerEnds) {
  ToyOptions options;
  options.all_logits = true;
  options.max_context_len = options.max_seq_len = 400;
  const auto answer = toy_answer(toy_tokens("aaaaaa"), 300);
  options.eos_ids = {static_cast<int64_t>(answer[200])};
  auto runner = make(options);
  const std::string plain = text(*runner, "aaaaaa", answer_of(300));
  const auto context = runner->context();
  ASSERT_EQ(runner->finish_reason(), FinishReason::EndOfText);
  runner->reset();
  GenerationConfig config = answer_of(300);
  config.prompt_lookup = 6;
  EXPECT_EQ(text(*runner, "aaaaaa", config), plain);
  EXPECT_EQ(runner->finish_reason(), FinishReason::EndOfText);
  EXPECT_EQ(runner->context(), context);
}

TEST_F(TextLLMRunnerTest, PromptLookupNeedsAllLogits) {
  auto runner = make();
  GenerationConfig config = answer_of(3);
  config.prompt_lookup = 2;
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::NotSupported);
  config.prompt_lookup = -1;
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::NotSupported);
}

TEST_F(TextLLMRunnerTest, GrammarsHoldForEveryToken) {
  ToyOptions options;
  options.tokens_per_call = 4;  // prompts of several calls
  options.eos_ids = {2};
  auto runner = make(options);
  GenerationConfig config = answer_of(20);
  config.grammar = R"(root ::= "<" [A-C]{3} ("!" | "?") ">")";
  config.grammar_type = "gbnf";
  config.hide_eos = true;
  for (const float temperature : {0.0f, 1.0f, 2.0f}) {
    config.temperature = temperature;
    runner->reset();
    const std::string found = text(*runner, "a long prompt", config);
    EXPECT_EQ(error_, Error::Ok);
    ASSERT_EQ(found.size(), 6u) << found;
    EXPECT_TRUE(found[0] == '<' && found[5] == '>' && (found[4] == '!' || found[4] == '?'));
    EXPECT_EQ(found.find_first_not_of("ABC", 1), 4u) << found;
    EXPECT_EQ(runner->finish_reason(), FinishReason::EndOfText);
  }
  runner->reset();
  EXPECT_EQ(text(*runner, "a", answer_of(5)), expected("a", 5)) << "no grammar is left";
}

TEST_F(TextLLMRunnerTest, GrammarsThatCannotHoldAreTold) {
  auto runner = make();
  GenerationConfig config = answer_of(5);
  config.grammar = "root ::= \"\\xE9\"";  // a byte above 127, which no token has
  config.grammar_type = "gbnf";
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::InvalidState);
  config.grammar = "root :=";
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::InvalidArgument);
  config.grammar = "root ::= \"a\"";
  config.grammar_type = "lark";
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::NotSupported);
  config.grammar_type = "gbnf";
  config.ignore_eos = true;
  text(*runner, "x", config);
  EXPECT_EQ(error_, Error::NotSupported);
  config.ignore_eos = false;
  ASSERT_TRUE(runner->prefill("x").ok());
  text(*runner, "", config);
  EXPECT_EQ(error_, Error::InvalidArgument) << "its first token has been made without";
}

TEST_F(TextLLMRunnerTest, LogprobsAreThoseOfTheLogits) {
  ToyOptions options;
  options.tokens_per_call = 4;
  auto runner = make(options);
  GenerationConfig config = answer_of(3);
  config.top_logprobs = 2;
  text(*runner, "hello world", config);
  const auto answer = toy_answer(toy_tokens("hello world"), 3);
  const auto rows = runner->logprobs();
  ASSERT_EQ(rows.size(), 3u);
  // One logit is 10, the 127 others 0.
  const double sum = std::log(std::exp(10.0) + 127);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].taken.token, static_cast<int32_t>(answer[i]));
    EXPECT_NEAR(rows[i].taken.logprob, 10 - sum, 1e-5);
    ASSERT_EQ(rows[i].best.size(), 2u);
    EXPECT_EQ(rows[i].best[0].token, static_cast<int32_t>(answer[i]));
    EXPECT_NEAR(rows[i].best[1].logprob, -sum, 1e-5);
  }
  text(*runner, "x", answer_of(2));
  EXPECT_TRUE(runner->logprobs().empty());
}

TEST_F(TextLLMRunnerTest, SharedBeginningsAreKept) {
  auto runner = make();
  ASSERT_TRUE(runner->prefill("hello there").ok());
  EXPECT_EQ(*runner->keep_shared_beginning(toy_tokens("hello you")), 6);
  EXPECT_EQ(toy_text(runner->context()), "hello ");
  EXPECT_EQ(text(*runner, "you", answer_of(3)), expected("hello you", 3));
  EXPECT_EQ(*runner->keep_shared_beginning(toy_tokens("hello")), 4) << "one is left to compute";
  EXPECT_EQ(*runner->keep_shared_beginning(toy_tokens("x")), 0);
  EXPECT_EQ(runner->keep_shared_beginning({}).error(), Error::InvalidArgument);
}
