// SPDX-License-Identifier: BSD-3-Clause
// The parts below the formats: base64, UTF-8, regular expressions, results.
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/prefix_trie.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pytorch/tokenizers/base64.h>
#include <pytorch/tokenizers/regex.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers {
namespace {

using detail::PrefixTrie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> found(const std::string& pattern, const std::string& text) {
  Pcre2Regex regex;
  EXPECT_EQ(regex.compile(pattern), Error::Ok) << pattern;
  std::vector<std::string> parts;
  for (const Match& match : regex.find_all(text)) {
    parts.push_back(text.substr(match.start, match.end - match.start));
  }
  return parts;
}

TEST(Base64, DecodesAndRefuses) {
  // RFC 4648, section 10
  EXPECT_EQ(*base64::decode("Zg=="), "f");
  EXPECT_EQ(*base64::decode("Zm8="), "fo");
  EXPECT_EQ(*base64::decode("Zm9vYmFy"), "foobar");
  EXPECT_EQ(*base64::decode("="), "");  // in Whisper's file
  for (const char* bad : {"", "Zg=", "Z===", "Zg==Zg==", "Zm9v\n", "Zm-v"}) {
    EXPECT_EQ(base64::decode(bad).error(), Error::Base64DecodeFailure) << bad;
  }
}

TEST(PrefixTrie, FindsThePiecesThatATextBeginsWith) {
  std::mt19937 chance(5);
  const auto drawn = [&](size_t most, int bytes) {
    std::string text(1 + chance() % most, 0);
    for (char& c : text) {
      c = static_cast<char>(chance() % bytes);
    }
    return text;
  };
  for (const int bytes : {2, 7, 256}) {
    std::vector<std::string> pieces;
    std::vector<PrefixTrie::Entry> entries;
    std::map<std::string, uint32_t> last;
    for (uint32_t value = 0; value < 2000; ++value) {
      pieces.push_back(drawn(9, bytes));
    }
    for (uint32_t value = 0; value < pieces.size(); ++value) {
      entries.push_back({pieces[value], value});
      last[pieces[value]] = value;
    }
    const PrefixTrie trie(std::move(entries));
    for (int round = 0; round < 2000; ++round) {
      const std::string text =
          round % 2 ? drawn(12, bytes) : pieces[round % 2000] + drawn(3, bytes);
      std::vector<std::pair<uint32_t, size_t>> expected, found;
      for (size_t length = 1; length <= text.size(); ++length) {
        if (const auto at = last.find(text.substr(0, length)); at != last.end()) {
          expected.emplace_back(at->second, length);
        }
      }
      trie.each_prefix(text, [&](uint32_t value, size_t n) { found.emplace_back(value, n); });
      EXPECT_EQ(found, expected);
    }
  }
  PrefixTrie().each_prefix("a", [](uint32_t, size_t) { FAIL(); });
}

TEST(Utf8, BadSequencesBecomeOneReplacementEach) {
  // The Unicode standard, table 3-8: 61 | F1 80 80 | E1 80 | C2 | 62 | 80 | 63
  EXPECT_EQ(detail::with_replacements("a\xF1\x80\x80\xE1\x80\xC2"
                                      "b\x80"
                                      "c"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc");
  EXPECT_FALSE(detail::is_utf8("\xED\xA0\x80"));  // a surrogate
  EXPECT_FALSE(detail::is_utf8("\xC0\x80"));
  EXPECT_FALSE(detail::is_utf8("\xF4\x90\x80\x80"));
  EXPECT_TRUE(detail::is_utf8("plain text, long enough for words \U0010FFFF"));
}

TEST(ByteLevel, EachByteHasOneCharacter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(detail::from_byte_characters(detail::to_byte_characters(all)), all);
  EXPECT_EQ(detail::to_byte_characters(" \n!"), "\u0120\u010A!");
  EXPECT_FALSE(detail::from_byte_characters("\u65E5").has_value());
  EXPECT_FALSE(detail::from_byte_characters(" ").has_value());
}

TEST(Regex, ClassesFollowUnicode) {
  EXPECT_THAT(found("\\s+", "a \u00A0\u0085\u3000b\u180Ec"), ElementsAre(" \u00A0\u0085\u3000"));
  EXPECT_THAT(found("\\w+", "\u00e9t\u00e9 x\u0301_9-"), ElementsAre("\u00e9t\u00e9", "x\u0301_9"));
  EXPECT_THAT(found("[^\\s\\w]+", "a!? b."), ElementsAre("!?", "."));
  EXPECT_THAT(found("[^\\S\\n]+", "a \t\nb"), ElementsAre(" \t"));
  EXPECT_THAT(found("[a-z&&[^b]]+", "abc"), ElementsAre("a", "c"));
  EXPECT_THAT(found("(?i:'S)", "'s'\u017F"), ElementsAre("'s", "'\u017F"));
  EXPECT_THAT(found("\\u00e9", "\u00e9"), ElementsAre("\u00e9"));
}

TEST(Regex, LooksAheadAndBehind) {
  EXPECT_THAT(found("\\s+(?!\\S)|\\s+", "a   b"), ElementsAre("  ", " "));
  EXPECT_THAT(found("(?<=a)b", "abcb"), ElementsAre("b"));
  EXPECT_THAT(found(IRegex::escape("a.b[c]"), "axb a.b[c]"), ElementsAre("a.b[c]"));
  EXPECT_THAT(found("x*", "\u00e9"), ElementsAre("", ""));
}

TEST(Regex, FailuresAreSaid) {
  EXPECT_EQ(create_regex("(").error(), Error::RegexFailure);
  Pcre2Regex none;
  EXPECT_THAT(none.find_all(std::string("a")), IsEmpty());
  Pcre2Regex slow;
  ASSERT_EQ(slow.compile("(a+)+$"), Error::Ok);
  std::vector<Match> matches;
  const std::string text = std::string(40, 'a') + "b";
  EXPECT_EQ(slow.find_all(std::string_view(text), matches), Error::RegexFailure);
}

TEST(Result, OkIsNoReasonForNoValue) {
  EXPECT_EQ(Result<int>(Error::Ok).error(), Error::Internal);
  EXPECT_EQ(*Result<int>(3), 3);
  EXPECT_THROW(TK_UNWRAP_THROW(Result<int>(Error::ParseFailure)), std::runtime_error);
  EXPECT_STREQ(to_string(Error::RegexFailure), "RegexFailure");
}

}  // namespace
}  // namespace tokenizers
