// SPDX-License-Identifier: BSD-3-Clause
// Logging through a registered platform: levels, positions, truncation, what is compiled out.
#undef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using executorch::runtime::Error;
using ::testing::HasSubstr;

namespace {

struct Message {
  et_pal_log_level_t level;
  std::string filename;
  size_t line;
  std::string text;
  size_t length;
};

std::vector<Message>& messages() {
  static std::vector<Message> list;
  return list;
}

void capture(et_timestamp_t, et_pal_log_level_t level, const char* filename, const char*,
             size_t line, const char* message, size_t length) {
  messages().push_back({level, filename, line, message, length});
}

// As documented: from a global constructor, through either namespace.
ET_UNUSED bool registration_result =
    executorch::platform::register_pal(executorch::platform::PalImpl::create(capture, __FILE__));

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    messages().clear();
  }
};

TEST_F(LogTest, RegisteredPlatformReceivesMessagesAndKeepsOtherDefaults) {
  RecordProperty("req", "RT-038 RT-C04");
  EXPECT_TRUE(registration_result);
  const auto* pal = executorch::runtime::get_pal_impl();
  EXPECT_EQ(pal->emit_log_message, capture);
  EXPECT_EQ(pal->allocate, et_pal_allocate);
  EXPECT_THAT(pal->source_filename, HasSubstr("platform.cpp"));
  // A second platform is named in the log and replaces what it has.
  executorch::runtime::PalImpl other = executorch::runtime::PalImpl::create(nullptr, "other.cpp");
  other.allocate = [](size_t) -> void* { return nullptr; };
  static int num_inits = 0;
  other.init = [] { ++num_inits; };
  EXPECT_TRUE(executorch::runtime::register_pal(other));
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_THAT(messages()[0].text, HasSubstr("other.cpp"));
  EXPECT_EQ(pal->emit_log_message, capture);
  EXPECT_EQ(pal->allocate, other.allocate);
  EXPECT_EQ(num_inits, 1);
  // Nameless, and giving the functions back for the other tests.
  EXPECT_TRUE(executorch::runtime::register_pal(
      {et_pal_init, nullptr, nullptr, nullptr, nullptr, et_pal_allocate, nullptr, nullptr}));
  ASSERT_EQ(messages().size(), 2u);
  EXPECT_THAT(messages()[1].text, HasSubstr("unknown"));
}

TEST_F(LogTest, CarriesLevelFileLineAndFormattedText) {
  RecordProperty("req", "RT-039");
  const size_t line = __LINE__ + 1;
  ET_LOG(Error, "%d %" PRId64 " %zu %s", -1, int64_t{1} << 40, size_t{7}, "text");
  ET_LOG(Info, "plain");
  ET_LOG(Fatal, "last");
  ASSERT_EQ(messages().size(), 3u);
  EXPECT_EQ(messages()[0].level, kError);
  EXPECT_EQ(messages()[0].filename, "log_test.cpp");
  EXPECT_EQ(messages()[0].line, line);
  EXPECT_EQ(messages()[0].text, "-1 1099511627776 7 text");
  EXPECT_EQ(messages()[0].length, messages()[0].text.size());
  EXPECT_EQ(messages()[1].level, kInfo);
  EXPECT_EQ(messages()[2].level, kFatal);
}

TEST_F(LogTest, LevelsBelowTheMinimumAreCompiledOutAndNotEvaluated) {
  int evaluations = 0;
  ET_LOG(Debug, "%d", ++evaluations);
  EXPECT_EQ(evaluations, 0);
  EXPECT_TRUE(messages().empty());
}

TEST_F(LogTest, LongMessagesAreCutAtAWholeCharacter) {
  const std::string ascii(300, 'x');
  ET_LOG(Error, "%s", ascii.c_str());
  EXPECT_EQ(messages().back().text, std::string(255, 'x'));
  // 254 bytes, then a character of 2, 3 and 4 bytes that does not fit whole.
  for (const char* character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    ET_LOG(Error, "%s%s%s", std::string(254, 'y').c_str(), character, "tail");
    EXPECT_EQ(messages().back().text, std::string(254, 'y'));
    EXPECT_EQ(messages().back().length, 254u);
  }
  // One that ends exactly at the limit stays.
  ET_LOG(Error, "%s%s%s", std::string(253, 'z').c_str(), "\xC3\xA9", "tail");
  EXPECT_EQ(messages().back().text, std::string(253, 'z') + "\xC3\xA9");
}

TEST_F(LogTest, BytesThatAreNoUtf8AreKept) {
  ET_LOG(Error, "%s", std::string(400, '\x80').c_str());
  EXPECT_EQ(messages().back().length, 255u);
}

Error checked(int value) {
  ET_CHECK_OR_RETURN_ERROR(value < 10, InvalidArgument, "expected less than 10, found %d", value);
  return Error::Ok;
}

TEST_F(LogTest, ChecksReturnAndSayWhy) {
  EXPECT_EQ(checked(3), Error::Ok);
  EXPECT_TRUE(messages().empty());
  EXPECT_EQ(checked(12), Error::InvalidArgument);
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_EQ(messages()[0].text, "expected less than 10, found 12");
}

TEST_F(LogTest, CheckOrLogGoesOn) {
  bool went_on = false;
  ET_CHECK_OR_LOG_ERROR(1 > 2, "numbers: %d", 5);
  went_on = true;
  EXPECT_TRUE(went_on);
  EXPECT_EQ(messages().back().text, "numbers: 5");
}

void print_and_fail_check() {
  // The death test's process prints what was captured.
  ET_CHECK_MSG(1 > 2, "value %d", 5);
}

TEST_F(LogTest, FailedChecksOfProgrammersAbort) {
  EXPECT_DEATH(print_and_fail_check(), "");
  EXPECT_DEATH(ET_CHECK(false), "");
  EXPECT_DEATH(ET_ASSERT_UNREACHABLE(), "");
  EXPECT_DEATH(ET_ASSERT_UNREACHABLE_MSG("here %d", 1), "");
  EXPECT_DEATH(executorch::runtime::runtime_abort(), "");
}

TEST_F(LogTest, ClockIsMonotonicInNanoseconds) {
  const et_timestamp_t first = executorch::runtime::pal_current_ticks();
  const et_timestamp_t second = executorch::runtime::pal_current_ticks();
  EXPECT_LE(first, second);
  EXPECT_EQ(executorch::runtime::ticks_to_ns(12345), 12345u);
}

TEST_F(LogTest, HeapOfThePlatform) {
  void* memory = executorch::runtime::pal_allocate(100);
  ASSERT_NE(memory, nullptr);
  executorch::runtime::pal_free(memory);
}

}  // namespace
