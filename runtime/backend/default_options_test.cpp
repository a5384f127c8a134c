// SPDX-License-Identifier: BSD-3-Clause
// Options that a program sets, by the table that reads a file's, and those that it sets for all.
#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;

namespace {

/// What one backend has of both kinds.
struct Both {
  bool fast = false;
  int8_t level = 1;
  std::string folder = "none";
  std::string others;
};

Error read_other(const GivenOption& given, Both& out) {
  out.others += std::string(given.key) + " ";
  return Error::Ok;
}

constexpr Option<Both> kBoth[] = {
    {"fast", read_option<&Both::fast>, OptionSource::kAny, write_option<&Both::fast>},
    {"level", read_option<&Both::level>, OptionSource::kRuntime, write_option<&Both::level>},
    {"folder", read_option<&Both::folder>, OptionSource::kRuntime, write_option<&Both::folder>},
    {"unused", check_option<bool>, OptionSource::kAny},
    {"graph", check_option<Span<const uint8_t>>, OptionSource::kAny},
    {"target", kForTheCompiler}};
constexpr OptionTable<Both> kStrict{"BothBackend", kBoth};
constexpr OptionTable<Both> kTolerant{"BothBackend", kBoth, skip_option, read_other,
                                      Error::InvalidArgument};

BackendOption text_option(const char* key, const std::string& value) {
  BackendOption option{};
  std::strcpy(option.key, key);
  std::array<char, kMaxOptionValueLength> text{};
  value.copy(text.data(), text.size());
  option.value = text;
  return option;
}

class RuntimeOptionsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  void add(const char* key, const std::string& bytes) {
    values_.push_back(std::make_unique<std::string>(bytes));
    specs_.push_back({key, {values_.back()->data(), bytes.size()}});
  }
  Error set(const BackendOption& option, const OptionTable<Both>& table = kStrict) {
    return read_runtime_options(table, Span<const BackendOption>(&option, 1), both_);
  }
  /// Of one option, or of the specs.
  template <typename Act>
  std::string log_of(Act act, Error error = Error::InvalidArgument) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(act(), error);
    const std::string log = ::testing::internal::GetCapturedStderr();
    const size_t begin = std::min(log.find("BothBackend: "), log.size());
    return log.substr(begin, log.find('\n', begin) - begin);
  }
  std::string refused(const BackendOption& option) {
    return log_of([&] { return set(option); });
  }
  Error read_specs(const OptionTable<Both>& table) {
    return read_compile_specs(table, {specs_.data(), specs_.size()}, both_);
  }

  Both both_;
  std::vector<std::unique_ptr<std::string>> values_;
  std::vector<CompileSpec> specs_;
};

TEST_F(RuntimeOptionsTest, AreReadBySameTable) {
  EXPECT_EQ(set({"fast", true}), Error::Ok);
  EXPECT_EQ(set({"level", -7}), Error::Ok);
  EXPECT_EQ(set(text_option("folder", "/tmp")), Error::Ok);
  EXPECT_EQ(set({"unused", true}), Error::Ok);
  EXPECT_TRUE(both_.fast);
  EXPECT_EQ(both_.level, -7);
  EXPECT_EQ(both_.folder, "/tmp");
  EXPECT_EQ(set(text_option("folder", std::string(kMaxOptionValueLength, 'x'))), Error::Ok);
  EXPECT_EQ(both_.folder.size(), kMaxOptionValueLength) << "text without an end";
}

TEST_F(RuntimeOptionsTest, EachMistakeHasAText) {
  EXPECT_EQ(refused({"fast", 1}), "BothBackend: option fast: expected a bool, found an int");
  EXPECT_EQ(refused({"level", true}), "BothBackend: option level: expected an int, found a bool");
  EXPECT_EQ(refused({"level", 128}), "BothBackend: option level: expected an int, found an int");
  EXPECT_EQ(refused({"folder", 1}), "BothBackend: option folder: expected text, found an int");
  EXPECT_EQ(refused(text_option("unused", "yes")),
            "BothBackend: option unused: expected a bool, found text");
  EXPECT_EQ(refused({"graph", 1}),
            "BothBackend: option graph: expected a compile spec, found an int");
  EXPECT_EQ(refused({"target", 1}),
            "BothBackend: options: expected one of fast, level, folder, unused, graph, found "
            "\"target\"");
  EXPECT_EQ(both_.level, 1);
  EXPECT_FALSE(both_.fast);
  add("level", {'\1'});
  EXPECT_EQ(log_of([&] { return read_specs(kStrict); }, Error::DelegateInvalidCompatibility),
            "BothBackend: compile specs: expected one of fast, unused, graph, target, found "
            "\"level\"");
  specs_.clear();
  add("fast", {'\1', '\1'});
  EXPECT_EQ(log_of([&] { return read_specs(kStrict); }, Error::InvalidProgram),
            "BothBackend: compile spec fast: expected 1 bytes, found 2");
  specs_.clear();
  add("fast", {'\2'});
  EXPECT_EQ(log_of([&] { return read_specs(kTolerant); }),
            "BothBackend: compile spec fast: expected 0 or 1, found other bytes");
  specs_.clear();
  add("fast", {'\1'});
  add("fast", {'\1'});
  EXPECT_EQ(log_of([&] { return read_specs(kStrict); }, Error::InvalidProgram),
            "BothBackend: compile spec fast: expected once, found again");
}

TEST_F(RuntimeOptionsTest, ATableMayTakeOthers) {
  EXPECT_EQ(set({"speed", 11}, kTolerant), Error::Ok);
  EXPECT_EQ(set({"target", true}, kTolerant), Error::Ok) << "one that files alone have";
  EXPECT_EQ(both_.others, "speed target ");
  add("speed", "11");
  add("fast", {'\1'});
  add("fast", {'\0'});
  specs_.push_back({nullptr, {nullptr, 0}});
  EXPECT_EQ(read_specs(kTolerant), Error::Ok);
  EXPECT_FALSE(both_.fast) << "the last one counts";
  EXPECT_EQ(both_.others, "speed target ") << "those of a file are skipped";
}

TEST_F(RuntimeOptionsTest, AreWrittenForWhoAsks) {
  both_.level = 5;
  both_.folder = std::string(300, 'x');
  BackendOption asked[] = {
      {"fast", true}, {"level", 0}, {"folder", 0}, {"unused", 7}, {"speed", 8}};
  write_options(kStrict, both_, {asked, 5});
  EXPECT_FALSE(std::get<bool>(asked[0].value));
  EXPECT_EQ(std::get<int>(asked[1].value), 5);
  EXPECT_EQ(std::string(std::get<2>(asked[2].value).data()), std::string(255, 'x'));
  EXPECT_EQ(std::get<int>(asked[3].value), 7);
  EXPECT_EQ(std::get<int>(asked[4].value), 8);
}

/// The file, what set_option() gave, the program that loads: each wins over the one before.
TEST_F(RuntimeOptionsTest, DefaultsStandBetweenFileAndProgram) {
  DefaultOptions defaults;
  const auto set_defaults = [&](std::vector<BackendOption> options) {
    return defaults.set({options.data(), options.size()}, kStrict);
  };
  const auto load = [&](std::vector<BackendOption> options) {
    Both both;
    EXPECT_EQ(defaults.read(kStrict, {specs_.data(), specs_.size()},
                            {options.data(), options.size()}, both),
              Error::Ok);
    return both;
  };
  add("fast", {'\1'});
  EXPECT_TRUE(load({}).fast);
  EXPECT_EQ(set_defaults({{"fast", false}, {"level", 2}, text_option("folder", "a")}), Error::Ok);
  EXPECT_FALSE(load({}).fast);
  EXPECT_TRUE(load({{"fast", true}}).fast);
  EXPECT_EQ(load({}).folder, "a");
  EXPECT_EQ(set_defaults({{"level", 3}, {"speed", 1}}), Error::InvalidArgument);
  EXPECT_EQ(load({}).level, 2) << "all are set or none";
  EXPECT_EQ(set_defaults({text_option("folder", "")}), Error::Ok);
  EXPECT_EQ(load({}).folder, "none");
  EXPECT_EQ(set_defaults({text_option("speed", "")}), Error::InvalidArgument);
  BackendOption asked[] = {{"level", 0}, text_option("folder", "?")};
  defaults.get({asked, 2});
  EXPECT_EQ(std::get<int>(asked[0].value), 2);
  EXPECT_STREQ(std::get<2>(asked[1].value).data(), "?");
}

}  // namespace
