// SPDX-License-Identifier: BSD-3-Clause
// tokenizer.json: what each part does to a text whose ids can be worked out by hand.
#include <executorch/extension/text/tokenizers/test/json_file.h>
#include <executorch/extension/text/tokenizers/test/temporary_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pytorch/tokenizers/hf_tokenizer.h>
#include <pytorch/tokenizers/stream_decoder.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tokenizers {
namespace {

using Json = nlohmann::json;
using test::changed;
using test::TemporaryFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ids = std::vector<uint64_t>;

Json added(const char* content, int id, bool special = true) {
  return {{"content", content}, {"id", id},        {"special", special},  {"normalized", false},
          {"lstrip", false},    {"rstrip", false}, {"single_word", false}};
}

/// Byte-level BPE: "a b" is 1 merge to "ab", then "ab c" to "abc"; "Ġ" spells the space; é is the
/// bytes c3 a9: Ã and ©.
Json byte_level() {
  return {{"added_tokens", {added("<|begin|>", 9), added("<|end|>", 10)}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab",
             {{"a", 0},
              {"b", 1},
              {"c", 2},
              {"ab", 3},
              {"abc", 4},
              {"\u0120", 5},
              {"\u0120a", 6},
              {"\u00c3", 7},
              {"\u00a9", 8}}},
            {"merges", {"a b", "ab c", "\u0120 a"}}}}};
}

Error load(HFTokenizer& tokenizer, const Json& file) {
  return tokenizer.load(TemporaryFile(file.dump(), "tokenizer.json").path());
}

Ids encoded(const Json& file, const std::string& text, int8_t bos = 0, int8_t eos = 0) {
  HFTokenizer tokenizer;
  EXPECT_EQ(load(tokenizer, file), Error::Ok);
  auto ids = tokenizer.encode(text, bos, eos);
  EXPECT_TRUE(ids.ok()) << text;
  return ids.ok() ? *ids : Ids{};
}

TEST(HFTokenizer, MergesByRank) {
  RecordProperty("req", "LLM-034");
  EXPECT_THAT(encoded(byte_level(), "abc"), ElementsAre(4));
  EXPECT_THAT(encoded(byte_level(), "abcab"), ElementsAre(4, 3));
  EXPECT_THAT(encoded(byte_level(), "bca"), ElementsAre(1, 2, 0));
  // " ab": "a b" has the lower rank, so "Ġa" never forms.
  EXPECT_THAT(encoded(byte_level(), "c ab a"), ElementsAre(2, 5, 3, 6));
  EXPECT_THAT(encoded(byte_level(), "\u00e9"), ElementsAre(7, 8));
  EXPECT_THAT(encoded(byte_level(), ""), IsEmpty());
}

TEST(HFTokenizer, LongPiecesMergeAsShortOnes) {
  Ids expected;
  std::string text;
  for (int i = 0; i < 100; ++i) {  // above the length from which a heap is used
    text += i % 2 == 0 ? "abc" : "cab";
    const Ids part = i % 2 == 0 ? Ids{4} : Ids{2, 3};
    expected.insert(expected.end(), part.begin(), part.end());
  }
  EXPECT_EQ(encoded(byte_level(), text), expected);
}

TEST(HFTokenizer, IgnoreMergesTakesAWholePieceFirst) {
  Json file = byte_level();
  file["model"]["merges"] = {"a b"};
  EXPECT_THAT(encoded(file, "abc"), ElementsAre(3, 2));
  file["model"]["ignore_merges"] = true;
  EXPECT_THAT(encoded(file, "abc"), ElementsAre(4));
}

TEST(HFTokenizer, AddedTokensAreFoundInTheText) {
  EXPECT_THAT(encoded(byte_level(), "a<|end|>b<|begin|>"), ElementsAre(0, 10, 1, 9));
  Json file = byte_level();
  file["added_tokens"][1]["lstrip"] = true;
  file["added_tokens"][1]["rstrip"] = true;
  EXPECT_THAT(encoded(file, "a  <|end|> \nb"), ElementsAre(0, 10, 1));
  file["added_tokens"].push_back(added("ca", 11));
  file["added_tokens"][2]["single_word"] = true;
  EXPECT_THAT(encoded(file, "bca ca"), ElementsAre(1, 2, 0, 5, 11));
}

TEST(HFTokenizer, DecodesBytes) {
  HFTokenizer tokenizer;
  ASSERT_EQ(load(tokenizer, byte_level()), Error::Ok);
  EXPECT_EQ(*tokenizer.decode(0, 6), " a");
  EXPECT_EQ(*tokenizer.decode(0, 7), "\xc3");
  EXPECT_EQ(*tokenizer.decode(Ids{4, 7, 8, 10}), "abc\u00e9<|end|>");
  EXPECT_EQ(*tokenizer.decode(Ids{4, 10}, true), "abc");
  EXPECT_EQ(*tokenizer.decode(0, 10, true), "");
  EXPECT_EQ(tokenizer.decode(0, 99).error(), Error::DecodeFailure);
  EXPECT_EQ(*tokenizer.id_to_piece(6), "\u0120a");
  EXPECT_EQ(*tokenizer.piece_to_id("\u0120a"), 6u);
  EXPECT_EQ(tokenizer.piece_to_id("zz").error(), Error::EncodeFailure);
  EXPECT_EQ(tokenizer.vocab_size(), 11);
}

TEST(HFTokenizer, StreamsWholeCharacters) {
  HFTokenizer tokenizer;
  ASSERT_EQ(load(tokenizer, byte_level()), Error::Ok);
  StreamDecoder stream(tokenizer);
  EXPECT_EQ(*stream.push(0), "a");
  EXPECT_EQ(*stream.push(7), "");
  EXPECT_EQ(*stream.push(8), "\u00e9");
  EXPECT_EQ(*stream.push(8), "\ufffd");  // a continuation that nothing began
  EXPECT_EQ(*stream.push(7), "");
  EXPECT_EQ(stream.push(99).error(), Error::DecodeFailure);
  EXPECT_EQ(stream.finish(), "\ufffd");
  EXPECT_EQ(stream.finish(), "");
}

/// SentencePiece's shape: no bytes, U+2581 for the space, <0xHH> for what is missing.
Json characters() {
  Json vocabulary = {{"<unk>", 0},   {"\u2581", 1}, {"a", 2},
                     {"\u2581a", 3}, {"<0xC3>", 4}, {"<0xA9>", 5}};
  return {{"added_tokens", {added("<unk>", 0)}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "\u2581"}},
              {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}}},
          {"pre_tokenizer", nullptr},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", Json::array({Json::array({"\u2581", "a"})})},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"fuse_unk", true}}}};
}

TEST(HFTokenizer, FallsBackToBytesThenToUnknown) {
  EXPECT_THAT(encoded(characters(), "a a"), ElementsAre(3, 3));
  EXPECT_THAT(encoded(characters(), "a\u00e9"), ElementsAre(3, 4, 5));
  EXPECT_THAT(encoded(characters(), "axx\u00e9xa"), ElementsAre(3, 4, 5, 0, 2));
  Json file = characters();
  file["model"]["fuse_unk"] = false;
  EXPECT_THAT(encoded(file, "axx"), ElementsAre(3, 0, 0));
  EXPECT_THAT(encoded(file, "axx\u00e9x"), ElementsAre(3, 0, 4, 5, 0, 0));
}

TEST(HFTokenizer, StripsTheFirstSpaceOfASequenceOnly) {
  HFTokenizer tokenizer;
  ASSERT_EQ(load(tokenizer, characters()), Error::Ok);
  EXPECT_EQ(*tokenizer.decode(Ids{3, 3, 4, 5}), "a a\u00e9");
  EXPECT_EQ(*tokenizer.decode(3, 3), " a");
  EXPECT_EQ(*tokenizer.decode(0, 3), "a");  // after a special token a sequence begins
  StreamDecoder stream(tokenizer);
  std::string text;
  for (const uint64_t token : Ids{3, 3, 4, 5}) {
    text += *stream.push(token);
  }
  EXPECT_EQ(text, "a a\u00e9");
}

TEST(HFTokenizer, TheTemplateIsAppliedOnceWhenAskedFor) {
  Json file = byte_level();
  file["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single",
       {{{"SpecialToken", {{"id", "<|begin|>"}, {"type_id", 0}}}},
        {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"special_tokens",
       {{"<|begin|>", {{"id", "<|begin|>"}, {"ids", {9}}, {"tokens", {"<|begin|>"}}}}}}};
  EXPECT_THAT(encoded(file, "a"), ElementsAre(0));
  EXPECT_THAT(encoded(file, "a", 2, 1), ElementsAre(9, 0));
  EXPECT_THAT(encoded(file, "a", -1), ElementsAre(0));
  EXPECT_THAT(encoded(byte_level(), "a", 1, 1), ElementsAre(0));
}

TEST(HFTokenizer, BeginAndEndAreConfiguredOrGuessed) {
  HFTokenizer guessed;
  ASSERT_EQ(load(guessed, byte_level()), Error::Ok);
  EXPECT_EQ(guessed.bos_tok(), 9u);
  EXPECT_EQ(guessed.eos_tok(), 10u);

  Json one = byte_level();
  one["added_tokens"].erase(0);
  one["added_tokens"][0]["id"] = 9;
  HFTokenizer same;
  ASSERT_EQ(load(same, one), Error::Ok);
  EXPECT_EQ(same.bos_tok(), same.eos_tok());

  const TemporaryFile folder(byte_level().dump(), "tokenizer.json");
  folder.add("tokenizer_config.json",
             R"({"eos_token": {"content": "<|begin|>"}, "bos_token": null})");
  folder.add("special_tokens_map.json", R"({"bos_token": "<|end|>"})");
  HFTokenizer configured;
  ASSERT_EQ(configured.load(folder.folder()), Error::Ok);
  EXPECT_EQ(configured.bos_tok(), 10u);
  EXPECT_EQ(configured.eos_tok(), 9u);
}

/// Ids of "the-final--countdown" cut at "-" are told apart by length: pieces become x, one per
/// character.
TEST(HFTokenizer, SplitsAsTheReferenceDocuments) {
  // huggingface.co/docs/tokenizers, "Split behaviors"
  const std::vector<std::pair<const char*, std::vector<size_t>>> rows = {
      {"Removed", {3, 5, 9}},
      {"Isolated", {3, 1, 5, 1, 1, 9}},
      {"MergedWithPrevious", {4, 6, 1, 9}},
      {"MergedWithNext", {3, 6, 1, 10}},
      {"Contiguous", {3, 1, 5, 2, 9}},
  };
  for (const auto& [behavior, lengths] : rows) {
    Json file = byte_level();
    Json vocabulary = {{"<unk>", 0}};
    // Every piece is one token, because ignore_merges looks it up whole.
    const std::string text = "the-final--countdown";
    Ids expected;
    size_t at = 0;
    for (const size_t length : lengths) {
      if (std::string(behavior) == "Removed") {
        at = text.find_first_not_of('-', at);
      }
      const std::string piece = text.substr(at, length);
      if (!vocabulary.contains(piece)) {
        vocabulary[piece] = vocabulary.size();
      }
      expected.push_back(vocabulary[piece]);
      at += length;
    }
    file["model"] = {{"type", "BPE"},         {"vocab", vocabulary},  {"merges", Json::array()},
                     {"ignore_merges", true}, {"unk_token", "<unk>"}, {"fuse_unk", true}};
    file["added_tokens"] = Json::array();
    file["pre_tokenizer"] = {{"type", "Split"},
                             {"pattern", {{"String", "-"}}},
                             {"behavior", behavior},
                             {"invert", false}};
    EXPECT_EQ(encoded(file, text), expected) << behavior;
  }
}

TEST(HFTokenizer, AddedTokensMayBeLeftOut) {
  Json file = byte_level();
  file.erase("added_tokens");
  EXPECT_THAT(encoded(file, "abc"), ElementsAre(4));
}

TEST(HFTokenizer, RefusesWhatItCannotFollow) {
  const std::vector<std::pair<std::string, Error>> rows = {
      {"not json", Error::ParseFailure},
      {"", Error::ParseFailure},
      {"[]", Error::LoadFailure},
      {changed(byte_level(), "/model/vocab", nullptr), Error::LoadFailure},
      {changed(byte_level(), "/model/merges", {"a"}), Error::ParseFailure},
      {changed(byte_level(), "/model/merges", {"a z"}), Error::LoadFailure},
      {changed(byte_level(), "/model/merges", Json::array({Json::array({"a", "b", "c"})})),
       Error::ParseFailure},
      {changed(byte_level(), "/model/vocab/a", "0"), Error::ParseFailure},
      {changed(byte_level(), "/model/vocab/a", -1), Error::ParseFailure},
      {changed(byte_level(), "/model/vocab/a", 4000000000u), Error::LoadFailure},
      {changed(byte_level(), "/model/vocab/a", 1), Error::LoadFailure},  // as "b"
      {changed(byte_level(), "/pre_tokeniser", nullptr), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens/0/lstrip", nullptr), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens/0/special", 1), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens/1/id", -1), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens/0/content", {"a"}), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens/1", "a"), Error::ParseFailure},
      {changed(byte_level(), "/added_tokens/1", Json::array()), Error::ParseFailure},
      {changed(byte_level(), "/model/type", "Unheard"), Error::LoadFailure},
      {changed(byte_level(), "/model/dropout", 0.5), Error::LoadFailure},
      {changed(byte_level(), "/model/unk_token", "zz"), Error::LoadFailure},
      {changed(byte_level(), "/added_tokens", nullptr), Error::LoadFailure},
      {changed(byte_level(), "/normalizer", {{"type", "Unheard"}}), Error::LoadFailure},
      {changed(byte_level(), "/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "("}}}}),
       Error::LoadFailure},
      {changed(byte_level(), "/decoder", {{"kind", "ByteLevel"}}), Error::LoadFailure},
      {changed(byte_level(), "/post_processor", {{"type", "BertProcessing"}}), Error::LoadFailure},
      {std::string(100, '['), Error::ParseFailure},
  };
  for (const auto& [bytes, expected] : rows) {
    HFTokenizer tokenizer;
    EXPECT_EQ(tokenizer.load(TemporaryFile(bytes).path()), expected) << bytes.substr(0, 200);
    EXPECT_FALSE(tokenizer.is_loaded());
    EXPECT_EQ(tokenizer.encode("a").error(), Error::Uninitialized);
    EXPECT_EQ(tokenizer.decode(0, 0).error(), Error::Uninitialized);
  }
  HFTokenizer tokenizer;
  EXPECT_EQ(tokenizer.load("/nowhere/tokenizer.json"), Error::LoadFailure);
}

}  // namespace
}  // namespace tokenizers
