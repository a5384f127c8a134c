// SPDX-License-Identifier: BSD-3-Clause
// The parts of a runner alone: configuration, statistics, text in pieces, prefiller, decoder,
// generator, metadata.
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/context.h>
#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/llm/runner/text_prefiller.h>
#include <executorch/extension/llm/runner/text_token_generator.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::aten::ScalarType;
using executorch::extension::from_blob;
using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace {

class LlmComponentsTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    register_toy_kernel();
  }

  // A decoder runner and what it borrows.
  struct Decoder {
    explicit Decoder(const std::string& path)
        : module(path), io_manager(module), runner(&module, &io_manager) {}
    Module module;
    IOManager io_manager;
    TextDecoderRunner runner;
  };
  Decoder decoder(const ToyOptions& options = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return Decoder(write_toy(test->name(), options));
  }
};

}  // namespace

TEST_F(LlmComponentsTest, GenerationConfigHasItsDefaults) {
  RecordProperty("req", "LLM-037");
  const GenerationConfig config;
  EXPECT_TRUE(config.echo);
  EXPECT_EQ(config.max_new_tokens, -1);
  EXPECT_FALSE(config.warming);
  EXPECT_EQ(config.seq_len, -1);
  EXPECT_EQ(config.temperature, 0.8f);
  EXPECT_EQ(config.num_bos, 0);
  EXPECT_EQ(config.num_eos, 0);
  EXPECT_FALSE(config.ignore_eos);
}

TEST_F(LlmComponentsTest, SettingsThatNobodySetAreTheProgramsOnes) {
  const GenerationConfig program = sampling_of(
      R"({"temperature": 0.25, "top_k": 7, "top_p": 1.5, "min_p": "x", "eos_token_id": [1]})");
  EXPECT_EQ(program.temperature, 0.25f);
  EXPECT_FALSE(program.top_p.is_given());  // 1.5 is not possible
  EXPECT_FALSE(program.min_p.is_given());
  GenerationConfig asked;
  asked.temperature = 0.8f;  // as nobody's, but set
  const GenerationConfig config = with_defaults(asked, program);
  EXPECT_EQ(config.temperature, 0.8f);
  EXPECT_EQ(config.top_k, 7);
  EXPECT_EQ(config.top_p, kTopp);
  EXPECT_FALSE(sampling_of(R"({"top_k": 7.5})").top_k.is_given());  // no whole number
  for (const char* nothing : {"", "[]", "{", "7"}) {
    EXPECT_FALSE(sampling_of(nothing).temperature.is_given()) << nothing;
  }
}

TEST_F(LlmComponentsTest, NewTokensAreLimitedByContextLengthAndWish) {
  RecordProperty("req", "LLM-037");
  struct Row {
    int32_t seq_len, max_new_tokens;
    int64_t context, occupied;
    int32_t expected;
  };
  const Row rows[] = {{-1, -1, 128, 28, 100}, {-1, 50, 128, 28, 50},   {-1, 200, 128, 28, 100},
                      {64, -1, 128, 28, 36},  {200, -1, 128, 28, 100}, {64, 10, 128, 28, 10},
                      {64, 90, 128, 28, 36},  {20, -1, 128, 28, 0},    {-1, -1, 128, 200, 0},
                      {-1, 0, 128, 28, 0}};
  for (const Row& row : rows) {
    GenerationConfig config;
    config.seq_len = row.seq_len;
    config.max_new_tokens = row.max_new_tokens;
    EXPECT_EQ(config.resolve_max_new_tokens(row.context, row.occupied), row.expected)
        << row.seq_len << " " << row.max_new_tokens;
  }
}

TEST_F(LlmComponentsTest, StatsAreOneLineOfJson) {
  RecordProperty("req", "LLM-040");
  Stats stats;
  EXPECT_EQ(stats_to_json_string(stats),
            R"({"prompt_tokens":0,"generated_tokens":0,"model_load_start_ms":0,)"
            R"("model_load_end_ms":0,"inference_start_ms":0,"inference_end_ms":0,)"
            R"("prompt_eval_end_ms":0,"first_token_ms":0,"aggregate_sampling_time_ms":0,)"
            R"("SCALING_FACTOR_UNITS_PER_SECOND":1000})");
  stats.inference_start_ms = 1000;
  stats.prompt_eval_end_ms = 1500;
  stats.inference_end_ms = 3500;
  stats.num_prompt_tokens = 20;
  stats.num_generated_tokens = 5;
  EXPECT_THAT(stats_to_json_string(stats),
              HasSubstr(R"({"prefill_token_per_sec":40,"decode_token_per_sec":2.5,"prompt_)"));
  stats.gpu_total_bytes = 4096;
  stats.gpu_peak_usage_mb = 1.5;
  EXPECT_THAT(stats_to_json_string(stats),
              HasSubstr(R"("gpu_total_bytes":4096,"gpu_peak_usage_mb":1.5,"SCALING)"));
}

TEST_F(LlmComponentsTest, TheReportHasRatesAndTimes) {
  RecordProperty("req", "LLM-040");
  Stats stats;
  stats.model_load_end_ms = 250;
  stats.prompt_eval_end_ms = stats.first_token_ms = 500;
  stats.inference_end_ms = 2500;
  stats.num_prompt_tokens = 20;
  stats.num_generated_tokens = 5;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  print_report(stats);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out, "PyTorchObserver " + stats_to_json_string(stats) + "\n");
  EXPECT_THAT(log, HasSubstr("\tPrompt Tokens: 20    Generated Tokens: 5"));
  EXPECT_THAT(log, HasSubstr("\tModel Load Time:\t\t0.250000 (seconds)"));
  EXPECT_THAT(log, HasSubstr("Total inference time:\t\t2.500000 (seconds)\t\t Rate: \t2.000000 "
                             "(tokens/second)"));
  EXPECT_THAT(log, HasSubstr("Prompt evaluation:\t0.500000 (seconds)\t\t Rate: \t40.000000"));
  EXPECT_THAT(log, HasSubstr("Generated 5 tokens:\t2.000000 (seconds)\t\t Rate: \t2.500000"));
  EXPECT_THAT(log, HasSubstr("Time to first generated token:\t0.500000 (seconds)"));
  EXPECT_THAT(log, HasSubstr("Sampling time over 25 tokens:\t0.000000 (seconds)"));
}

TEST_F(LlmComponentsTest, ResettingStatsKeepsTheTimeOfLoading) {
  Stats stats;
  stats.model_load_end_ms = 7;
  stats.inference_end_ms = 8;
  stats.num_prompt_tokens = 9;
  stats.reset();
  EXPECT_EQ(stats.model_load_end_ms, 7);
  EXPECT_EQ(stats.inference_end_ms, 0);
  EXPECT_EQ(stats.num_prompt_tokens, 0);
  stats.reset(true);
  EXPECT_EQ(stats.model_load_end_ms, 0);
}

TEST_F(LlmComponentsTest, MemoryIsCountedInBytes) {
  RecordProperty("req", "LLM-040");
  EXPECT_GT(get_rss_bytes(), size_t{1} << 20);
  EXPECT_LT(get_rss_bytes(), size_t{1} << 40);
}

TEST_F(LlmComponentsTest, CharactersAreNotSplit) {
  const std::string euro = "\xE2\x82\xAC";
  EXPECT_EQ(utf8_complete_prefix_len("ab" + euro), 5u);
  EXPECT_EQ(utf8_complete_prefix_len("ab" + euro.substr(0, 2)), 2u);
  EXPECT_EQ(utf8_complete_prefix_len("ab\xF0\x9F\x98"), 2u);
  EXPECT_EQ(utf8_complete_prefix_len("ab\xFF"), 3u) << "no character begins so";
  EXPECT_EQ(utf8_complete_prefix_len(""), 0u);
  EXPECT_EQ(utf8_safe_prefix_len("ab" + euro, 4), 2u);
  EXPECT_EQ(utf8_safe_prefix_len("ab" + euro, 5), 5u);
  EXPECT_EQ(utf8_safe_prefix_len("ab" + euro, 99), 5u);
  EXPECT_EQ(utf8_safe_prefix_len("\x82\xAC", 2), 0u);
}

TEST_F(LlmComponentsTest, WhatMayBeginAStopIsHeldBack) {
  bool hit = true;
  EXPECT_EQ(stop_safe_prefix_len("hello", {}, hit), 5u);
  EXPECT_FALSE(hit);
  EXPECT_EQ(stop_safe_prefix_len("hello STOP and END", {"END", "STOP", ""}, hit), 6u);
  EXPECT_TRUE(hit);
  EXPECT_EQ(stop_safe_prefix_len("hello ST", {"STOP"}, hit), 5u);
  EXPECT_FALSE(hit);
  EXPECT_EQ(stop_safe_prefix_len("ab", {"STOP"}, hit), 0u);
  EXPECT_EQ(stop_safe_prefix_len("a\xE2\x82\xAC"
                                 "b",
                                 {"XYZ"}, hit),
            1u)
      << "not within the euro";
}

TEST_F(LlmComponentsTest, UnprintableBytesAreNotPrinted) {
  testing::internal::CaptureStdout();
  safe_printf(nullptr);
  safe_printf("");
  safe_printf("\x01");
  safe_printf("a");
  safe_printf("\n");
  safe_printf("\x01z");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a\n\x01z");
}

TEST_F(LlmComponentsTest, BFloat16IsRounded) {
  std::vector<float> values = {1.0f, 1.00390625f, -3.5f};  // 1 + 2^-8 lies halfway: to even
  const auto converted = convert_to_bfloat16(from_blob(values.data(), {3}));
  ASSERT_TRUE(converted.ok());
  const auto* found = (*converted)->const_data_ptr<executorch::aten::BFloat16>();
  EXPECT_EQ(static_cast<float>(found[0]), 1.0f);
  EXPECT_EQ(static_cast<float>(found[1]), 1.0f);
  EXPECT_EQ(static_cast<float>(found[2]), -3.5f);
  std::vector<int64_t> integers = {1};
  EXPECT_EQ(convert_to_bfloat16(from_blob(integers.data(), {1}, ScalarType::Long)).error(),
            Error::InvalidArgument);
}

TEST_F(LlmComponentsTest, ThePrefillerFeedsManyTokensAtOnceOrOneByOne) {
  RecordProperty("req", "LLM-038");
  const auto prompt = toy_tokens("twelve bytes");
  for (const bool parallel : {true, false}) {
    Decoder parts = decoder();
    TextPrefiller prefiller(&parts.runner, true, parallel, 8);
    EXPECT_FALSE(prefiller.is_loaded());
    auto tokens = prompt;
    int64_t position = 0;
    toy_calls().reset();
    const auto next = prefiller.prefill(tokens, position);
    ASSERT_TRUE(next.ok());
    EXPECT_EQ(*next, toy_next(prompt));
    EXPECT_EQ(position, 12);
    EXPECT_EQ(toy_calls().count, parallel ? 2 : 12);
    EXPECT_TRUE(prefiller.is_loaded());
    EXPECT_EQ(prefiller.prefill(tokens, position, 2.5f).error(), Error::InvalidArgument);
    EXPECT_EQ(position, 12);
  }
}

TEST_F(LlmComponentsTest, AnErrorMidwayLeavesThePositionOfWhatWasDone) {
  ToyOptions options;
  options.max_context_len = 10;
  Decoder parts = decoder(options);
  TextPrefiller prefiller(&parts.runner, true, true, 8);
  auto tokens = toy_tokens("twelve bytes");
  int64_t position = 0;
  EXPECT_EQ(prefiller.prefill(tokens, position).error(), Error::InvalidArgument);
  EXPECT_EQ(position, 6);
}

TEST_F(LlmComponentsTest, NothingToPrefillAborts) {
  Decoder parts = decoder();
  TextPrefiller prefiller(&parts.runner, true, true);
  std::vector<uint64_t> none;
  int64_t position = 0;
  EXPECT_DEATH((void)prefiller.prefill(none, position), "Expected a token at least");
}

TEST_F(LlmComponentsTest, TheIOManagerWantsTwoInputs) {
  ToyOptions options;
  options.use_kv_cache = false;
  Decoder parts = decoder(options);
  int64_t token = 65;
  auto tensor = from_blob(&token, {1, 1}, ScalarType::Long);
  EXPECT_EQ(parts.io_manager.prepare_decode(tensor, tensor).error(), Error::InvalidState);
  EXPECT_NE(parts.io_manager.prepare_prefill(tensor, tensor, "nothing").error(), Error::Ok);
  EXPECT_EQ(parts.io_manager.load(), Error::Ok);
  EXPECT_EQ(parts.io_manager.update_prefill({}), Error::Ok);
}

TEST_F(LlmComponentsTest, CallsOfSeveralTokensAreThePrefillsOfTheIOManager) {
  struct Noted : IOManager {
    using IOManager::IOManager;
    Result<std::vector<EValue>> prepare_prefill(const TensorPtr& input, const TensorPtr& position,
                                                const std::string& method) override {
      calls += "P";
      return IOManager::prepare_prefill(input, position, method);
    }
    Result<std::vector<EValue>> prepare_decode(const TensorPtr& input, const TensorPtr& position,
                                               const std::string& method) override {
      calls += "d";
      return IOManager::prepare_decode(input, position, method);
    }
    Error update_prefill(const std::vector<EValue>& outputs, const std::string& method) override {
      calls += "U";
      return IOManager::update_prefill(outputs, method);
    }
    Error update_decode(const std::vector<EValue>& outputs, const std::string&) override {
      calls += std::to_string(outputs.size());
      return Error::Ok;
    }
    std::string calls;
  };
  Module module(write_toy("noted"));
  Noted noted(module);
  TextDecoderRunner runner(&module, &noted);
  ASSERT_EQ(runner.load(), Error::Ok);
  int64_t tokens[] = {65, 66, 67};
  auto prompt = from_blob(tokens, {1, 2}, ScalarType::Long);
  auto one = from_blob(tokens + 2, {1, 1}, ScalarType::Long);
  ASSERT_TRUE(runner.step(prompt, 0).ok());
  ASSERT_TRUE(runner.step(one, 2).ok());
  // What prepares and takes back calls of one token does it for all, unless it is told apart.
  EXPECT_EQ(noted.calls, "PdU1d1");
}

TEST_F(LlmComponentsTest, AContextKnowsWhatFitsAndWhereItCanGoBack) {
  Context all({{kMaxContextLen, 8}, {kMaxSeqLen, 8}});
  Context window({{kMaxContextLen, 8}, {kMaxSeqLen, 4}});
  for (Context* context : {&all, &window}) {
    context->append({1, 2, 3});
    context->resize(5);  // an image of two positions
    EXPECT_EQ(context->ids(),
              (std::vector<uint64_t>{1, 2, 3, Context::kNoToken, Context::kNoToken}));
    EXPECT_EQ(context->rewind(6), Error::InvalidArgument);
    EXPECT_EQ(context->shared_beginning({1, 2, 3, Context::kNoToken, Context::kNoToken, 4}), 5);
  }
  EXPECT_EQ(all.shared_beginning({1, 2, 9}), 2);
  EXPECT_EQ(all.shared_beginning({1}), 0);                        // one token is left to compute
  EXPECT_EQ(all.shared_beginning({1, 2, 9}, /*exact=*/true), 0);  // not of a prompt
  EXPECT_EQ(all.check_room(2), Error::Ok);
  EXPECT_EQ(all.check_room(3), Error::InvalidArgument);
  EXPECT_EQ(all.rewind(2), Error::Ok);
  EXPECT_EQ(all.ids(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(window.shared_beginning({1, 2, 9}), 0);
  EXPECT_EQ(window.check_room(7), Error::Ok);
  EXPECT_EQ(window.check_room(8), Error::InvalidArgument);
  EXPECT_EQ(window.rewind(2), Error::NotSupported);
  EXPECT_EQ(window.rewind(0), Error::Ok);
}

TEST_F(LlmComponentsTest, WhatCameOfAPromptIsExact) {
  const auto counted = [](int64_t count) {
    std::vector<uint64_t> tokens(static_cast<size_t>(count));
    std::iota(tokens.begin(), tokens.end(), uint64_t{0});
    return tokens;
  };
  Context context({{kMaxContextLen, 256}, {kMaxSeqLen, 256}});
  context.append_prompt(counted(40), 256);
  EXPECT_EQ(context.exact(), 40);
  context.append({40, 41, 42});  // of an answer
  EXPECT_EQ(context.exact(), 40);
  EXPECT_EQ(context.shared_beginning(counted(44)), 43);
  EXPECT_EQ(context.shared_beginning(counted(44), /*exact=*/true), 28);  // 16 are left
  EXPECT_EQ(context.shared_beginning(counted(63), /*exact=*/true), 40);
  EXPECT_EQ(context.shared_beginning(counted(9), /*exact=*/true), 0);
  context.append_prompt(counted(20), 256);  // behind an answer
  EXPECT_EQ(context.exact(), 40);
  EXPECT_EQ(context.rewind(30), Error::Ok);
  EXPECT_EQ(context.exact(), 30);
  context.append_prompt(counted(15), 256);  // a call of few
  EXPECT_EQ(context.exact(), 30);
  for (const auto& [most, exact] : {std::pair<int64_t, int64_t>{32, 33}, {30, 0}}) {
    Context pieces({{kMaxContextLen, 256}, {kMaxSeqLen, most}, {kKeepsAllPositions, 1}});
    pieces.append_prompt(counted(most == 32 ? 33 : 31), most);  // 17 and 16; 16 and 15
    EXPECT_EQ(pieces.exact(), exact);
  }
  context.assign(counted(9));
  EXPECT_EQ(context.exact(), 0);
}

TEST_F(LlmComponentsTest, CallsOfAPromptAreOfAboutTheSameSize) {
  EXPECT_EQ(next_call(256, 256), 256);
  EXPECT_EQ(next_call(257, 256), 129);
  EXPECT_EQ(next_call(600, 256), 200);
  EXPECT_EQ(next_call(5, 1), 1);
}

TEST_F(LlmComponentsTest, AMissingMethodIsNamed) {
  Decoder parts = decoder();
  TextDecoderRunner runner(&parts.module, &parts.io_manager, "backward");
  testing::internal::CaptureStderr();
  EXPECT_NE(runner.load(), Error::Ok);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("Failed to load method 'backward'"));
}

namespace {

// Makes one token impossible.
class Ban : public LogitProcessor {
 public:
  explicit Ban(uint64_t token) : token_(token) {}
  Error process(executorch::aten::Tensor logits) override {
    logits.mutable_data_ptr<float>()[token_] = -1e9f;
    return token_ == 0 ? Error::InvalidState : Error::Ok;
  }

 private:
  uint64_t token_;
};

}  // namespace

TEST_F(LlmComponentsTest, TheGeneratorStreamsUntilTheEnd) {
  RecordProperty("req", "LLM-038");
  Decoder parts = decoder();
  ASSERT_EQ(parts.runner.load(), Error::Ok);
  TextPrefiller prefiller(&parts.runner, true, true);
  ByteTokenizer tokenizer;
  Stats stats;
  const auto answer = toy_answer(toy_tokens("generator"), 4);
  TextTokenGenerator generator(
      &tokenizer, &parts.runner, true,
      std::make_unique<std::unordered_set<uint64_t>>(std::unordered_set<uint64_t>{answer[3]}),
      &stats);
  EXPECT_TRUE(generator.is_loaded());
  auto prompt = toy_tokens("generator");
  int64_t position = 0;
  prompt.push_back(*prefiller.prefill(prompt, position));
  std::vector<std::string> pieces;
  const auto gather = [&](const std::string& piece) { pieces.push_back(piece); };
  const auto count = generator.generate(prompt, position, 10, 0.0f, gather);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 3);
  EXPECT_EQ(generator.made_tokens(), std::vector<uint64_t>(answer.begin() + 1, answer.end()));
  EXPECT_EQ(pieces.size(), 3u);
  EXPECT_TRUE(generator.is_at_eos());
  EXPECT_EQ(*generator.generate(prompt, position, 0, 0.0f, gather), 0);
  EXPECT_EQ(generator.generate(prompt, position, 1, -0.5f, gather).error(), Error::InvalidArgument);
}

TEST_F(LlmComponentsTest, LogitProcessorsComeBeforeTheSampler) {
  RecordProperty("req", "LLM-038");
  Decoder parts = decoder();
  ByteTokenizer tokenizer;
  Stats stats;
  TextTokenGenerator generator(&tokenizer, &parts.runner, true,
                               std::make_unique<std::unordered_set<uint64_t>>(), &stats);
  const auto tokens = toy_tokens("A");
  generator.add_logit_processor(nullptr);
  EXPECT_EQ(generator.num_logit_processors(), 0u);
  generator.add_logit_processor(std::make_shared<Ban>(toy_next(tokens)));
  const auto ignore = [](const std::string&) {};
  ASSERT_TRUE(generator.generate(tokens, 0, 1, 0.0f, ignore).ok());
  EXPECT_EQ(generator.made_tokens()[0], 0u) << "the first of those that are left";
  generator.add_logit_processor(std::make_shared<Ban>(0));
  EXPECT_EQ(generator.generate(tokens, 0, 1, 0.0f, ignore).error(), Error::InvalidState);
  generator.clear_logit_processors();
  EXPECT_EQ(*generator.generate(tokens, 0, 1, 0.0f, ignore), 1);
}

TEST_F(LlmComponentsTest, MetadataComesFromTheProgramAndTheTokenizer) {
  RecordProperty("req", "LLM-041");
  ToyOptions options;
  options.eos_ids = {70, 71};
  Module module(write_toy("metadata", options));
  ByteTokenizer tokenizer;
  const auto metadata = get_llm_metadata(&tokenizer, &module);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->at(kMaxSeqLen), 32);
  EXPECT_EQ(metadata->at(kKeepsAllPositions), 1);
  EXPECT_EQ(metadata->at(kMaxContextLen), 32);
  EXPECT_EQ(metadata->at(kEnableDynamicShape), 1);
  EXPECT_EQ(metadata->at(kUseKVCache), 1);
  EXPECT_EQ(metadata->at(kUseSDPAWithKVCache), 0) << "absent: the default";
  EXPECT_EQ(metadata->at(kBosId), 1);
  EXPECT_EQ(metadata->at(kVocabSize), kToyVocabulary);
  EXPECT_THAT(get_eos_ids(&tokenizer, &module), UnorderedElementsAre(70, 71));
  Module plain(write_toy("plain"));
  EXPECT_THAT(get_eos_ids(&tokenizer, &plain), UnorderedElementsAre(2)) << "the tokenizer's";
}

// A program whose methods give numbers.
std::string write_constants(const std::map<std::string, int32_t>& constants) {
  executorch::runtime::testing::ProgramBuilder builder;
  for (const auto& [name, number] : constants) {
    auto& method = builder.add_method(name);
    const int32_t value = method.add_int(number);
    method.inputs({}).outputs({value});
  }
  const auto bytes = builder.build();
  std::string path = testing::TempDir() + "/llm_runner_constants.pte";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  return path;
}

TEST_F(LlmComponentsTest, LengthsHaveTheirNamesWithAndWithoutGet) {
  RecordProperty("req", "LLM-C04");
  ByteTokenizer tokenizer;
  Module bare(write_constants({{"max_seq_len", 24}, {"max_context_len", 96}}));
  const auto metadata = get_llm_metadata(&tokenizer, &bare);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->at(kMaxSeqLen), 24);
  EXPECT_EQ(metadata->at(kMaxContextLen), 96);
  EXPECT_EQ(metadata->at(kKeepsAllPositions), 0);
  Module both(write_constants({{"get_max_seq_len", 32}, {"max_seq_len", 24}}));
  EXPECT_EQ(get_llm_metadata(&tokenizer, &both)->at(kMaxSeqLen), 32);
  EXPECT_EQ(get_llm_metadata(&tokenizer, &both)->at(kMaxContextLen), 32);
}

TEST_F(LlmComponentsTest, AProgramWithoutLengthsIsRefused) {
  RecordProperty("req", "LLM-041");
  Module module(write_constants({{"forward", 1}}));
  ByteTokenizer tokenizer;
  testing::internal::CaptureStderr();
  EXPECT_EQ(get_llm_metadata(&tokenizer, &module).error(), Error::InvalidArgument);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no method get_max_seq_len"));
}
