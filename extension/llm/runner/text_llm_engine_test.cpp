// SPDX-License-Identifier: BSD-3-Clause
// LLMEngine and LLMSession on a toy decoder: turns, several sessions, stopping, failures.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/extension/llm/runner/text_llm_engine.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::runtime::Error;

namespace {

class TextLLMEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    register_toy_kernel();
  }

  static std::unique_ptr<LLMEngine> engine(const ToyOptions& options = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    auto made = create_text_llm_engine(write_toy(std::string("engine_") + test->name(), options),
                                       byte_tokenizer());
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

  static std::unique_ptr<LLMSession> session(LLMEngine& engine) {
    auto made = engine.create_session();
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

  static std::string decode(LLMSession& session, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const auto result = session.decode_one({});
      EXPECT_TRUE(result.ok());
      text += result->text_piece;
    }
    return text;
  }
};

std::string expected(const std::string& context, size_t count) {
  return toy_text(toy_answer(toy_tokens(context), count));
}

}  // namespace

TEST_F(TextLLMEngineTest, DecodedTokensBelongToTheContext) {
  const auto made = engine();
  const auto one = session(*made);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("hello")), Error::Ok);
  EXPECT_EQ(one->position(), 5);
  const std::string answer = decode(*one, 4);
  EXPECT_EQ(answer, expected("hello", 4));
  EXPECT_EQ(one->position(), 9);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("?")), Error::Ok);
  EXPECT_EQ(decode(*one, 3), expected("hello" + answer + "?", 3));
  ASSERT_EQ(one->reset(), Error::Ok);
  EXPECT_EQ(one->position(), 0);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("new")), Error::Ok);
  EXPECT_EQ(decode(*one, 2), expected("new", 2));
}

TEST_F(TextLLMEngineTest, SessionsDoNotSeeEachOtherAndOutliveTheEngine) {
  auto made = engine();
  const auto a = session(*made);
  const auto b = session(*made);
  ASSERT_EQ(a->prefill_tokens(toy_tokens("first")), Error::Ok);
  ASSERT_EQ(b->prefill_tokens(toy_tokens("second")), Error::Ok);
  std::string of_a;
  std::string of_b;
  for (int i = 0; i < 5; ++i) {
    of_a += decode(*a, 1);
    of_b += decode(*b, 1);
  }
  made.reset();
  of_a += decode(*a, 1);
  EXPECT_EQ(of_a, expected("first", 6));
  EXPECT_EQ(of_b, expected("second", 5));
}

TEST_F(TextLLMEngineTest, LongPromptsAndProgramsWithoutCacheAreFedWhole) {
  ToyOptions options;
  options.tokens_per_call = 4;
  const auto chunked = engine(options);
  const auto one = session(*chunked);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("eleven chars")), Error::Ok);
  EXPECT_EQ(decode(*one, 3), expected("eleven chars", 3));
  options = {};
  options.use_kv_cache = false;
  const auto uncached = engine(options);
  const auto two = session(*uncached);
  ASSERT_EQ(two->prefill_tokens(toy_tokens("ab")), Error::Ok);
  EXPECT_EQ(decode(*two, 4), expected("ab", 4));
}

TEST_F(TextLLMEngineTest, EndsAreTerminal) {
  ToyOptions options;
  options.eos_ids = {static_cast<int64_t>(toy_answer(toy_tokens("hello"), 2)[1])};
  const auto made = engine(options);
  const auto one = session(*made);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("hello")), Error::Ok);
  EXPECT_FALSE(one->decode_one({})->is_terminal);
  const auto last = one->decode_one({});
  EXPECT_TRUE(last->is_eos && last->is_terminal);
  EXPECT_EQ(one->decode_one({}).error(), Error::InvalidState);
  EXPECT_EQ(one->prefill_tokens(toy_tokens("x")), Error::InvalidState) << "an error before";
  ASSERT_EQ(one->reset(), Error::Ok);
  EXPECT_EQ(one->prefill_tokens(toy_tokens("x")), Error::Ok);
}

TEST_F(TextLLMEngineTest, AFullContextIsTerminal) {
  const auto made = engine();
  const auto one = session(*made);
  ASSERT_EQ(one->prefill_tokens(std::vector<uint64_t>(30, 'a')), Error::Ok);
  EXPECT_FALSE(one->decode_one({})->is_terminal);
  const auto last = one->decode_one({});
  EXPECT_TRUE(last->is_terminal);
  EXPECT_FALSE(last->is_eos);
  EXPECT_EQ(one->position(), 32);
  ASSERT_EQ(one->reset(), Error::Ok);
  EXPECT_EQ(one->prefill_tokens(std::vector<uint64_t>(32, 'a')), Error::InvalidArgument);
}

TEST_F(TextLLMEngineTest, StopActsUntilThePromptThatFollows) {
  const auto made = engine();
  const auto one = session(*made);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("hello")), Error::Ok);
  one->stop();
  const auto stopped = one->decode_one({});
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->is_terminal);
  EXPECT_FALSE(stopped->is_eos);
  EXPECT_EQ(stopped->text_piece, "");
  EXPECT_EQ(one->position(), 5);
  ASSERT_EQ(one->prefill_tokens(toy_tokens("!")), Error::Ok);
  EXPECT_EQ(decode(*one, 2), expected("hello!", 2));
}

TEST_F(TextLLMEngineTest, WrongCallsPoisonTheSessionOnly) {
  const auto made = engine();
  const auto one = session(*made);
  EXPECT_EQ(one->decode_one({}).error(), Error::InvalidState);
  ASSERT_EQ(one->reset(), Error::Ok);
  EXPECT_EQ(one->prefill_tokens({}), Error::InvalidArgument);
  ASSERT_EQ(one->reset(), Error::Ok);
  for (const SamplingConfig& wrong :
       {SamplingConfig{3, 1, 0, 0}, SamplingConfig{1, 0, 0, 0}, SamplingConfig{1, 1, -1, 0}}) {
    ASSERT_EQ(one->prefill_tokens(toy_tokens("a")), Error::Ok);
    EXPECT_EQ(one->decode_one(wrong).error(), Error::InvalidArgument);
    EXPECT_EQ(one->decode_one({}).error(), Error::InvalidState);
    ASSERT_EQ(one->reset(), Error::Ok);
  }
  EXPECT_FALSE(create_text_llm_engine("/nowhere.pte", byte_tokenizer()).ok());
  EXPECT_EQ(create_text_llm_engine("/nowhere.pte", nullptr).error(), Error::InvalidArgument);
}

TEST_F(TextLLMEngineTest, SeedsMakeAnswersAgain) {
  const auto made = engine();
  const auto sampled = [&](uint64_t seed, bool from_prefill) {
    const auto one = session(*made);
    const SamplingConfig sampling{2, 1, 0, seed};
    EXPECT_EQ(one->prefill_tokens(toy_tokens("abc"), from_prefill ? &sampling : nullptr),
              Error::Ok);
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += one->decode_one(sampling)->text_piece;
    }
    return text;
  };
  EXPECT_EQ(sampled(5, false), sampled(5, false));
  EXPECT_EQ(sampled(5, true), sampled(5, false));
  EXPECT_NE(sampled(5, false), sampled(6, false));
}

TEST_F(TextLLMEngineTest, SaysWhatItHas) {
  const auto made = engine();
  EXPECT_EQ(made->metadata().at("get_max_context_len"), 32);
  EXPECT_GT(made->serving_capacity().max_physical_sessions_without_weight_duplication, 1)
      << "no backend has weights of its own";
  EXPECT_GE(made->serving_capacity().estimated_bytes_per_session, 32 * 8) << "the cache";
}
