// SPDX-License-Identifier: BSD-3-Clause
// WordPiece, Unigram and WordLevel in tokenizer.json, SentencePiece, Tekken and Llama2.c files,
// made here by hand.
#include <executorch/extension/text/tokenizers/test/json_file.h>
#include <executorch/extension/text/tokenizers/test/temporary_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pytorch/tokenizers/hf_tokenizer.h>
#include <pytorch/tokenizers/llama2c_tokenizer.h>
#include <pytorch/tokenizers/load_tokenizer.h>
#include <pytorch/tokenizers/sentencepiece.h>
#include <pytorch/tokenizers/tekken.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tokenizers {
namespace {

using Json = nlohmann::json;
using test::changed;
using test::TemporaryFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<uint64_t>;

Ids encoded(const Json& model, const std::string& text) {
  HFTokenizer tokenizer;
  const Json file = {{"added_tokens", Json::array()},
                     {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                     {"model", model}};
  EXPECT_EQ(tokenizer.load(TemporaryFile(file.dump()).path()), Error::Ok);
  auto ids = tokenizer.encode(text);
  EXPECT_TRUE(ids.ok());
  return ids.ok() ? *ids : Ids{};
}

TEST(WordPiece, TakesTheLongestBeginning) {
  const Json model = {
      {"type", "WordPiece"},
      {"unk_token", "[UNK]"},
      {"continuing_subword_prefix", "##"},
      {"max_input_chars_per_word", 10},
      {"vocab", {{"[UNK]", 0}, {"un", 1}, {"##aff", 2}, {"##able", 3}, {"u", 4}, {"##a", 5}}}};
  // The example of BERT's own tokenizer: "unaffable" is un, ##aff, ##able.
  EXPECT_THAT(encoded(model, "unaffable ua"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(encoded(model, "unx u"), ElementsAre(0, 4));
  EXPECT_THAT(encoded(model, "uaaaaaaaaaa"), ElementsAre(0));  // 11 characters
}

TEST(Unigram, TakesTheMostProbableCut) {
  const Json model = Json::parse(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0],
      ["a", -1], ["b", -1.0], ["ab", -1.5], ["bc", -1.2], ["c", -3]]})");
  // abc: a + bc = -2.2, ab + c = -4.5, a + b + c = -5.
  EXPECT_THAT(encoded(model, "abc"), ElementsAre(1, 4));
  EXPECT_THAT(encoded(model, "ab"), ElementsAre(3));          // -1.5 against -2
  EXPECT_THAT(encoded(model, "axyb"), ElementsAre(1, 0, 2));  // unknown characters in a row are one
}

TEST(WordLevel, KnowsWholePiecesOnly) {
  const Json model = {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"?", 0}, {"ab", 1}}}};
  EXPECT_THAT(encoded(model, "ab abc ab"), ElementsAre(1, 0, 1));
}

TEST(WordLevel, WithoutAnUnknownTokenSomeTextsCannotBeEncoded) {
  HFTokenizer tokenizer;
  const Json file = {
      {"added_tokens", Json::array()},
      {"model", {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"ab", 0}}}}}};
  ASSERT_EQ(tokenizer.load(TemporaryFile(file.dump()).path()), Error::Ok);
  EXPECT_THAT(*tokenizer.encode("ab"), ElementsAre(0));
  EXPECT_EQ(tokenizer.encode("x").error(), Error::EncodeFailure);
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  return out + static_cast<char>(value);
}
std::string message(int number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string number(int field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string little_endian(const void* value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), value, 4);  // tests run on little-endian machines
  return bytes;
}
std::string piece(const std::string& text, float score, int type = 1) {
  return message(1,
                 message(1, text) + varint(2 << 3 | 5) + little_endian(&score) + number(3, type));
}

/// <unk>, <s>, </s>, then "▁", a, b, "▁a", "▁ab".
std::string sentencepiece(int algorithm, const std::string& more_trainer = "") {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("\u2581", -5) +
         piece("a", -6) + piece("b", -7) + piece("\u2581a", -1) + piece("\u2581ab", -2) +
         message(2, number(3, algorithm) + more_trainer);
}

TEST(SentencePiece, MergesByScore) {
  RecordProperty("req", "LLM-034");
  SPTokenizer tokenizer;
  ASSERT_EQ(tokenizer.load(TemporaryFile(sentencepiece(2)).path()), Error::Ok);
  EXPECT_EQ(tokenizer.vocab_size(), 8);
  EXPECT_EQ(tokenizer.bos_tok(), 1u);
  EXPECT_EQ(tokenizer.eos_tok(), 2u);
  EXPECT_THAT(*tokenizer.encode("ab  a ", 1, 1), ElementsAre(1, 7, 6, 2));
  EXPECT_THAT(*tokenizer.encode("bxyb"), ElementsAre(3, 5, 0, 5));
  EXPECT_THAT(*tokenizer.encode(""), IsEmpty());
  EXPECT_EQ(*tokenizer.decode(5, 7), " ab");
  EXPECT_EQ(*tokenizer.decode(1, 7), "ab");
  EXPECT_EQ(*tokenizer.decode(5, 1), " ");
  EXPECT_EQ(*tokenizer.decode(5, 1, true), "");
  EXPECT_EQ(*tokenizer.decode(Ids{1, 7, 6, 0, 2}), "ab a \u2047 ");
  EXPECT_EQ(tokenizer.decode(0, 8).error(), Error::DecodeFailure);
  EXPECT_EQ(*tokenizer.piece_to_id("\u2581a"), 6u);
  EXPECT_EQ(tokenizer.load("/nowhere"), Error::Ok);  // it is loaded already
}

TEST(SentencePiece, UnigramTakesTheGreatestSum) {
  SPTokenizer tokenizer;
  ASSERT_EQ(tokenizer.load(TemporaryFile(sentencepiece(1)).path()), Error::Ok);
  EXPECT_THAT(*tokenizer.encode("ab"), ElementsAre(7));  // -2 against ▁a + b = -8
  EXPECT_THAT(*tokenizer.encode("ba"), ElementsAre(3, 5, 4));
  EXPECT_THAT(*tokenizer.encode("axxb"), ElementsAre(6, 0, 5));
}

TEST(SentencePiece, FallsBackToBytes) {
  std::string bytes = sentencepiece(2, number(35, 1));
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", byte);
    bytes += piece(text, 0, 6);
  }
  SPTokenizer tokenizer;
  ASSERT_EQ(tokenizer.load(TemporaryFile(bytes).path()), Error::Ok);
  EXPECT_THAT(*tokenizer.encode("a\u00e9"), ElementsAre(6, 8 + 0xC3, 8 + 0xA9));
  EXPECT_EQ(*tokenizer.decode(6, 8 + 0x0A), "\n");
  EXPECT_EQ(*tokenizer.decode(Ids{6, 8 + 0xC3, 8 + 0xA9, 8 + 0xC3}), "a\u00e9\ufffd");
}

TEST(SentencePiece, RefusesWhatIsNoModel) {
  const std::string whole = sentencepiece(2);
  const std::vector<std::string> rows = {
      "",
      "text",
      whole.substr(0, whole.size() - 1),
      sentencepiece(3),
      sentencepiece(4),
      piece("a", 0) + message(2, number(3, 2)),  // no unknown piece
      whole + piece("a", 0),
      whole + piece("c", 0, 7),
      whole + piece("", 0),
      sentencepiece(2, number(35, 1)),  // byte fallback without bytes
      whole + message(3, message(2, "\xff\xff\xff\x7f")),
  };
  for (const std::string& bytes : rows) {
    SPTokenizer tokenizer;
    EXPECT_EQ(tokenizer.load(TemporaryFile(bytes).path()), Error::ParseFailure) << bytes;
    EXPECT_FALSE(tokenizer.is_loaded());
    EXPECT_EQ(tokenizer.encode("a").error(), Error::Uninitialized);
  }
}

/// Header, then records; 259 byte pieces as Llama has them, then `more`.
std::string llama2c(const std::vector<std::string>& more, int32_t count) {
  const int32_t header[] = {count, 1, 2, 6};
  std::string bytes;
  for (const int32_t& value : header) {
    bytes += little_endian(&value);
  }
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", byte);
    pieces.push_back(text);
  }
  pieces.insert(pieces.end(), more.begin(), more.end());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const float score = -static_cast<float>(i);
    const auto size = static_cast<int32_t>(pieces[i].size());
    bytes += little_endian(&score) + little_endian(&size) + pieces[i];
  }
  return bytes;
}

TEST(Llama2c, MergesByScoreAfterASpace) {
  RecordProperty("req", "LLM-034");
  Llama2cTokenizer tokenizer;
  const TemporaryFile file(llama2c({" ", "a", "b", " a", " ab"}, 270));
  ASSERT_EQ(tokenizer.load(file.path()), Error::Ok);
  EXPECT_THAT(*tokenizer.encode("ab", 1, 1), ElementsAre(1, 263, 2));
  EXPECT_THAT(*tokenizer.encode("\u00e9"), ElementsAre(259, 3 + 0xC3, 3 + 0xA9));
  EXPECT_EQ(tokenizer.encode("").error(), Error::EncodeFailure);
  EXPECT_EQ(tokenizer.encode("a", -1).error(), Error::EncodeFailure);
  EXPECT_EQ(*tokenizer.decode(1, 263), "ab");
  EXPECT_EQ(*tokenizer.decode(260, 263), " ab");
  EXPECT_EQ(*tokenizer.decode(260, 3 + 0xC3), "\xC3");
  EXPECT_EQ(*tokenizer.id_to_piece(269), "<pad>");
  EXPECT_EQ(tokenizer.decode(0, 270).error(), Error::OutOfRange);
}

TEST(LoadTokenizer, SaysWhatFormatsMissOnlyWhenAllDo) {
  testing::internal::CaptureStderr();
  // JSON, tiktoken and SentencePiece are tried first.
  EXPECT_NE(load_tokenizer(TemporaryFile(llama2c({}, 270)).path()), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_tokenizer(TemporaryFile("{\"short").path()), nullptr);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_THAT(message, HasSubstr("Error parsing json file"));
  EXPECT_THAT(message, HasSubstr("expected a tokenizer of a known format"));
}

TEST(Llama2c, RefusesCorruptedFiles) {
  const std::string whole = llama2c({}, 259);
  for (const std::string& bytes :
       {std::string("short"), whole.substr(0, whole.size() - 1), whole.substr(0, 18),
        llama2c({}, -1), llama2c({}, 1), llama2c({}, 2000000000)}) {
    Llama2cTokenizer tokenizer;
    EXPECT_EQ(tokenizer.load(TemporaryFile(bytes).path()), Error::ParseFailure);
    EXPECT_FALSE(tokenizer.is_loaded());
  }
}

Json tekken() {
  Json vocabulary = Json::array();
  const char* base64[] = {"YQ==", "Yg==", "YWI=", "Yw=="};  // a, b, ab, c
  for (size_t rank = 0; rank < 4; ++rank) {
    vocabulary.push_back({{"rank", rank}, {"token_bytes", base64[rank]}, {"token_str", nullptr}});
  }
  return {{"config",
           {{"pattern", "[a-z]+"},
            {"num_vocab_tokens", 4},
            {"default_vocab_size", 25},
            {"default_num_special_tokens", 22},
            {"version", "v3"}}},
          {"vocab", vocabulary}};
}

TEST(Tekken, RanksFollowTheSpecialTokens) {
  RecordProperty("req", "LLM-034");
  Tekken tokenizer;
  const TemporaryFile file(tekken().dump(), "tekken.json");
  ASSERT_EQ(tokenizer.load(file.path()), Error::Ok);
  EXPECT_EQ(tokenizer.vocab_size(), 25);
  EXPECT_EQ(tokenizer.bos_tok(), 1u);
  EXPECT_EQ(tokenizer.eos_tok(), 2u);
  EXPECT_EQ(tokenizer.get_version(), "v3");
  EXPECT_THAT(*tokenizer.encode("abba", 1), ElementsAre(1, 24, 23, 22));
  EXPECT_THAT(*tokenizer.encode("a[INST]b"), ElementsAre(22, 3, 23));
  EXPECT_EQ(*tokenizer.id_to_piece(21), "<SPECIAL_21>");
  EXPECT_EQ(tokenizer.encode("c").error(), Error::EncodeFailure);  // beyond default_vocab_size
  EXPECT_EQ(*tokenizer.decode(0, 24), "ab");
  EXPECT_EQ(load_tokenizer(file.path())->vocab_size(), 25);
}

TEST(Tekken, ListsItsOwnSpecialTokens) {
  Json file = tekken();
  file["special_tokens"] = {{{"rank", 0}, {"token_str", "</s>"}, {"is_control", true}},
                            {{"rank", 5}, {"token_str", "<s>"}, {"is_control", true}}};
  Tekken tokenizer;
  ASSERT_EQ(tokenizer.load(TemporaryFile(file.dump()).path()), Error::Ok);
  EXPECT_EQ(tokenizer.bos_tok(), 5u);
  EXPECT_EQ(tokenizer.eos_tok(), 0u);
  EXPECT_EQ(*tokenizer.id_to_piece(1), "<SPECIAL_1>");
}

TEST(Tekken, RefusesCorruptedFiles) {
  const std::vector<std::pair<std::string, Error>> rows = {
      {"{", Error::ParseFailure},
      {"{}", Error::ParseFailure},
      {changed(tekken(), "/vocab/1/rank", 2), Error::ParseFailure},
      {changed(tekken(), "/vocab/1/token_bytes", "Y"), Error::Base64DecodeFailure},
      {changed(tekken(), "/vocab/1/token_bytes", 1), Error::ParseFailure},
      {changed(tekken(), "/vocab/1/token_bytes", "YQ=="), Error::ParseFailure},
      {changed(tekken(), "/config/default_vocab_size", 27), Error::ParseFailure},
      {changed(tekken(), "/config/default_vocab_size", 21), Error::ParseFailure},
      {changed(tekken(), "/config/pattern", "("), Error::RegexFailure},
      {changed(tekken(), "/config/pattern", nullptr), Error::ParseFailure},
      {changed(tekken(), "/special_tokens", Json::array()), Error::LoadFailure},
      {changed(tekken(), "/special_tokens", {{{"rank", 22}, {"token_str", "<s>"}}}),
       Error::ParseFailure},
  };
  for (const auto& [bytes, expected] : rows) {
    Tekken tokenizer;
    EXPECT_EQ(tokenizer.load(TemporaryFile(bytes).path()), expected) << bytes;
    EXPECT_FALSE(tokenizer.is_loaded());
  }
}

}  // namespace
}  // namespace tokenizers
