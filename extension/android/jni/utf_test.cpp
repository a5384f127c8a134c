// SPDX-License-Identifier: BSD-3-Clause
// Texts both ways, and what is no text.
#include <executorch/extension/android/jni/utf.h>

#include <gtest/gtest.h>

namespace executorch::extension::jni {

namespace {

struct Row {
  const char* utf8;
  const char16_t* utf16;
};

}  // namespace

TEST(Utf, TextsGoBothWays) {
  const Row rows[] = {
      {"", u""},
      {"add", u"add"},
      {"gr\xC3\xBC\xC3\x9F", u"gr\u00FC\u00DF"},
      {"\xE3\x81\x93", u"\u3053"},
      {"a\xF0\x9F\x98\x80z", u"a\xD83D\xDE00z"},  // U+1F600
      {"\xF4\x8F\xBF\xBF", u"\xDBFF\xDFFF"},      // the last, U+10FFFF
  };
  for (const Row& row : rows) {
    EXPECT_EQ(utf8_to_utf16(row.utf8), row.utf16) << row.utf8;
    EXPECT_EQ(utf16_to_utf8(row.utf16), row.utf8) << row.utf8;
    EXPECT_EQ(whole_characters(row.utf8), std::string(row.utf8).size()) << row.utf8;
  }
  EXPECT_EQ(utf8_to_utf16(std::string_view("a\0b", 3)), std::u16string(u"a\0b", 3));
}

TEST(Utf, WhatIsNoTextIsReplaced) {
  const Row rows[] = {
      {"a\x80z", u"a\uFFFDz"},        // a continuation without a beginning
      {"\xC3", u"\uFFFD"},            // an end that is missing
      {"\xF0\x9F\x98z", u"\uFFFDz"},  // the same before another character
      {"\xC0\x80", u"\uFFFD\uFFFD"},  // more bytes than needed: Java's own form of NUL
      {"\xE0\x80\x80", u"\uFFFD"},    // likewise
      {"\xED\xA0\xBD", u"\uFFFD"},    // a half of a pair
      {"\xF5\x80\x80\x80", u"\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond the last
      {"\xF4\x90\x80\x80", u"\uFFFD"},                    // likewise
  };
  for (const Row& row : rows) {
    EXPECT_EQ(utf8_to_utf16(row.utf8), row.utf16);
  }
  EXPECT_EQ(utf16_to_utf8(std::u16string(1, u'\xD83D')), "\xEF\xBF\xBD");
  EXPECT_EQ(utf16_to_utf8(std::u16string(1, u'\xDE00') + u"z"), "\xEF\xBF\xBDz");
}

TEST(Utf, CharactersThatAreCutWait) {
  const std::string emoji = "\xF0\x9F\x98\x80";
  for (size_t size = 0; size < emoji.size(); ++size) {
    EXPECT_EQ(whole_characters("ab" + emoji.substr(0, size)), 2U) << size;
  }
  EXPECT_EQ(whole_characters("ab" + emoji), 6U);
  EXPECT_EQ(whole_characters("ab\xC3"), 2U);
  EXPECT_EQ(whole_characters("ab\x80\x80\x80\x80"), 6U);  // no text ever: nothing to wait for
}

}  // namespace executorch::extension::jni
