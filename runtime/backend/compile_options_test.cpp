// SPDX-License-Identifier: BSD-3-Clause
// Compile specs become a struct; what is not known, not whole or not right is an error.
#include <executorch/runtime/backend/compile_options.h>
#include <executorch/runtime/platform/runtime.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;

namespace {

struct Kinds {
  bool fast = false;
  uint8_t level = 1;
  int32_t delta = 0;
  int64_t total = 0;
  std::string_view target = "cpu";
  Span<const uint8_t> graph;
};

constexpr CompileOption<Kinds> kKinds[] = {{"fast", read_option<&Kinds::fast>},
                                           {"level", read_option<&Kinds::level>},
                                           {"delta", read_option<&Kinds::delta>},
                                           {"total", read_option<&Kinds::total>},
                                           {"target", read_option<&Kinds::target>},
                                           {"graph", read_option<&Kinds::graph>},
                                           {"tuning", kForTheCompiler}};

struct Needed {
  uint8_t device = 0;
};
struct Outer {
  bool fast = false;
  Needed inner;
};
constexpr CompileOption<Outer> kOuter[] = {
    {"fast", read_option<&Outer::fast>},
    {"inner.device", read_option<&Outer::inner, &Needed::device>}};
/// A backend's own reader.
Error read_even(const char* backend, const CompileSpec& spec, Needed& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(read_option<&Needed::device>(backend, spec, out));
  return out.device % 2 == 0 ? Error::Ok : Error::NotSupported;
}
constexpr CompileOption<Needed> kEven[] = {{"device", read_even}};
constexpr CompileOption<Needed> kNeeded[] = {{"device", read_option<&Needed::device>, true}};

class CompileOptionsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  /// The bytes are those that Python writes: see options_test.py.
  void add(const char* key, const std::string& bytes) {
    values_.push_back(std::make_unique<std::string>(bytes));
    specs_.push_back({key, {values_.back()->data(), bytes.size()}});
  }
  template <typename Options, size_t N>
  Result<Options> read(const CompileOption<Options> (&known)[N]) {
    return read_compile_options("KindsBackend", {specs_.data(), specs_.size()}, known);
  }
  Error error_of(const char* key, const std::string& bytes) {
    specs_.clear();
    add(key, bytes);
    return read(kKinds).error();
  }

  std::vector<std::unique_ptr<std::string>> values_;
  std::vector<CompileSpec> specs_;
};

TEST_F(CompileOptionsTest, ReadsEachEncoding) {
  add("fast", {'\1'});
  add("level", {'\xC8'});
  add("delta", {'\xFE', '\xFF', '\xFF', '\xFF'});
  add("total", {'\0', '\0', '\0', '\0', '\0', '\1', '\0', '\0'});
  add("target", "h\xC3\xB6her");
  add("graph", {'\0', '\xFF'});
  add("tuning", "whatever");
  const auto read_kinds = read(kKinds);
  ASSERT_TRUE(read_kinds.ok());
  const Kinds& options = *read_kinds;
  EXPECT_TRUE(options.fast);
  EXPECT_EQ(options.level, 200);
  EXPECT_EQ(options.delta, -2);
  EXPECT_EQ(options.total, int64_t{1} << 40);
  EXPECT_EQ(options.target, "h\xC3\xB6her");
  ASSERT_EQ(options.graph.size(), 2u);
  EXPECT_EQ(options.graph[1], 0xFF);
}

TEST_F(CompileOptionsTest, WhatIsNotGivenIsAsInTheStruct) {
  const auto options = read(kKinds);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->level, 1);
  EXPECT_EQ(options->target, "cpu");
  EXPECT_EQ(read(kNeeded).error(), Error::InvalidProgram);
  add("device", {'\3'});
  EXPECT_EQ(read(kNeeded)->device, 3);
  EXPECT_EQ(read(kEven).error(), Error::NotSupported);
}

TEST_F(CompileOptionsTest, StructsHaveStructs) {
  add("inner.device", {'\7'});
  const auto options = read(kOuter);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->inner.device, 7);
  EXPECT_FALSE(options->fast);
  specs_.clear();
  add("inner.device", {'\7', '\0'});
  EXPECT_EQ(read(kOuter).error(), Error::InvalidProgram);
  specs_.clear();
  add("inner", {'\7'});
  EXPECT_EQ(read(kOuter).error(), Error::DelegateInvalidCompatibility);
}

TEST_F(CompileOptionsTest, KeysMustBeKnownAndStandOnce) {
  EXPECT_EQ(error_of("fats", {'\1'}), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(error_of("", {'\1'}), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(error_of(nullptr, {'\1'}), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(error_of("fast", {'\1'}), Error::Ok);
  add("fast", {'\1'});
  EXPECT_EQ(read(kKinds).error(), Error::InvalidProgram);
}

TEST_F(CompileOptionsTest, ValuesMustHaveTheirLength) {
  const struct {
    const char* key;
    size_t size;
  } rows[] = {{"fast", 1}, {"level", 1}, {"delta", 4}, {"total", 8}};
  for (const auto& row : rows) {
    for (size_t size = 0; size < 12; ++size) {
      const Error expected = size == row.size ? Error::Ok : Error::InvalidProgram;
      EXPECT_EQ(error_of(row.key, std::string(size, '\1')), expected) << row.key << size;
    }
  }
  EXPECT_EQ(error_of("fast", {'\2'}), Error::InvalidProgram);
  EXPECT_EQ(error_of("target", ""), Error::Ok);
  specs_ = {{"delta", {nullptr, 4}}};
  EXPECT_EQ(read(kKinds).error(), Error::InvalidProgram);
  specs_ = {{"graph", {nullptr, 4}}};
  EXPECT_TRUE(read(kKinds)->graph.empty());
}

}  // namespace
