// SPDX-License-Identifier: BSD-3-Clause
// tiktoken files: their lines, their special tokens, merging by rank.
#include <executorch/extension/text/tokenizers/test/temporary_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pytorch/tokenizers/load_tokenizer.h>
#include <pytorch/tokenizers/tiktoken.h>

#include <string>
#include <vector>

namespace tokenizers {
namespace {

using test::TemporaryFile;
using ::testing::ElementsAre;

std::string base64_of(const std::string& bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) {
      word = word << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : kAlphabet[word >> (18 - 6 * j) & 63];
    }
  }
  return out;
}

/// All bytes, each its own rank, then `more` from 256 on.
std::string file_of(const std::vector<std::string>& more) {
  std::string lines;
  for (int byte = 0; byte < 256; ++byte) {
    lines += base64_of(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte) + "\n";
  }
  for (size_t i = 0; i < more.size(); ++i) {
    lines += base64_of(more[i]) + " " + std::to_string(256 + i) + "\n";
  }
  return lines;
}

TEST(Tiktoken, SpecialTokensFollowTheRanks) {
  RecordProperty("req", "LLM-034");
  Tiktoken tokenizer;
  ASSERT_EQ(tokenizer.load(TemporaryFile(file_of({"ab"})).path()), Error::Ok);
  EXPECT_EQ(tokenizer.vocab_size(), 513);
  EXPECT_EQ(tokenizer.bos_tok(), 257u);
  EXPECT_EQ(tokenizer.eos_tok(), 258u);
  EXPECT_EQ(*tokenizer.id_to_piece(257), "<|begin_of_text|>");
  EXPECT_EQ(*tokenizer.id_to_piece(266), "<|eot_id|>");
  EXPECT_EQ(*tokenizer.id_to_piece(512), "<|reserved_special_token_246|>");
  EXPECT_EQ(*tokenizer.piece_to_id("ab"), 256u);
  EXPECT_EQ(tokenizer.id_to_piece(513).error(), Error::DecodeFailure);
}

TEST(Tiktoken, MergesTheLowestRankFirst) {
  Tiktoken tokenizer;
  // "abc": bc (256) before ab (257); then abc (258) is formed of a and bc.
  ASSERT_EQ(tokenizer.load(TemporaryFile(file_of({"bc", "ab", "abc"})).path()), Error::Ok);
  EXPECT_THAT(*tokenizer.encode("abc"), ElementsAre(258));
  EXPECT_THAT(*tokenizer.encode("zabc"), ElementsAre('z', 258));
  EXPECT_THAT(*tokenizer.encode("abb"), ElementsAre(257, 'b'));
  EXPECT_THAT(*tokenizer.encode("ab ab", 2, 1), ElementsAre(259, 259, 257, ' ', 257, 260));
  EXPECT_THAT(*tokenizer.encode("a<|end_of_text|>b"), ElementsAre('a', 260, 'b'));
  EXPECT_THAT(*tokenizer.encode("\xff"), ElementsAre(0xEF, 0xBF, 0xBD));  // U+FFFD
  EXPECT_EQ(*tokenizer.decode(0, 258), "abc");
  EXPECT_EQ(*tokenizer.decode(0, 260, true), "");
  EXPECT_EQ(*tokenizer.decode(0, 0xC3), "\xc3");
}

TEST(Tiktoken, TakesOnesOwnTokensAndPattern) {
  Tiktoken tokenizer("[ab]+|c", {"<s>", "</s>"}, 1, 0);
  ASSERT_EQ(tokenizer.load(TemporaryFile(file_of({"bc", "ab"})).path()), Error::Ok);
  EXPECT_EQ(tokenizer.bos_tok(), 259u);
  EXPECT_EQ(tokenizer.eos_tok(), 258u);
  EXPECT_THAT(*tokenizer.encode("abc"), ElementsAre(257, 'c'));  // the pattern parts b and c
  EXPECT_EQ(Tiktoken({"<s>"}, 0, 1).load(TemporaryFile(file_of({})).path()), Error::LoadFailure);
  Tiktoken bad("(", {"<s>"}, 0, 0);
  EXPECT_EQ(bad.load(TemporaryFile(file_of({})).path()), Error::RegexFailure);
}

// The reference panics there; an empty match right behind another is none.
TEST(Tiktoken, NeverEncodesAnEmptyMatch) {
  const TemporaryFile file(file_of({}));
  Tiktoken choice("a||b", {"<s>", "</s>"}, 0, 1);
  ASSERT_EQ(choice.load(file.path()), Error::Ok);
  EXPECT_THAT(*choice.encode("aa"), ElementsAre('a', 'a'));
  EXPECT_EQ(choice.encode("ab").error(), Error::EncodeFailure);
  EXPECT_EQ(choice.encode("ba").error(), Error::EncodeFailure);
}

TEST(Tiktoken, RefusesCorruptedLines) {
  const std::vector<std::pair<std::string, Error>> rows = {
      {"YQ==0\n", Error::ParseFailure},
      {"Y*== 0\n", Error::Base64DecodeFailure},
      {"YQ= 0\n", Error::Base64DecodeFailure},
      {"YQ== x\n", Error::EncodeFailure},
      {"YQ== 0x\n", Error::EncodeFailure},
      {"YQ== -1\n", Error::EncodeFailure},
      {"YQ== 0\nYQ== 1\n", Error::ParseFailure},
      {"YQ== 0\nYg== 0\n", Error::ParseFailure},
      {"YQ== 1\n", Error::ParseFailure},
      {"YQ== 4000000000\n", Error::ParseFailure},
      {"", Error::LoadFailure},
  };
  for (const auto& [bytes, expected] : rows) {
    Tiktoken tokenizer;
    EXPECT_EQ(tokenizer.load(TemporaryFile(bytes).path()), expected) << bytes;
    EXPECT_FALSE(tokenizer.is_loaded());
    EXPECT_EQ(tokenizer.encode("a").error(), Error::Uninitialized);
  }
  EXPECT_EQ(Tiktoken().load("/nowhere"), Error::LoadFailure);
}

TEST(LoadTokenizer, FindsTheFormat) {
  RecordProperty("req", "LLM-034 LLM-C06");
  const TemporaryFile ranks(file_of({"ab"}));
  EXPECT_EQ(load_tokenizer(ranks.path())->vocab_size(), 513);
  auto own = load_tokenizer(
      ranks.path(), std::make_unique<std::vector<std::string>>(std::vector<std::string>{"<s>"}),
      "[ab]", 0, 0);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->bos_tok(), 257u);
  EXPECT_THAT(*own->encode("ab"), ElementsAre('a', 'b'));
  const TemporaryFile json(
      R"({"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  EXPECT_THAT(*load_tokenizer(json.path())->encode("aa"), ElementsAre(0, 0));
  EXPECT_EQ(load_tokenizer(TemporaryFile("neither").path()), nullptr);
  EXPECT_EQ(load_tokenizer("/nowhere"), nullptr);
}

}  // namespace
}  // namespace tokenizers
