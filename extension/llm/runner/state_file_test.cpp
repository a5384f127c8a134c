// SPDX-License-Identifier: BSD-3-Clause
// A context to a file and back: goes on as if nothing had been; corrupted and foreign files change
// nothing.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using namespace executorch::extension::llm::toys;
using executorch::runtime::Error;

namespace {

class StateFileTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    register_toy_kernel();
    program_ = write_toy("state");
    path_ = testing::TempDir() + "/llm_state.bin";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  std::unique_ptr<TextLLMRunner> make() const {
    return create_text_llm_runner(program_, byte_tokenizer());
  }

  static std::string text(TextLLMRunner& runner, const std::string& prompt, int32_t count) {
    GenerationConfig config = answer_of(count);
    config.silent = true;
    std::string pieces;
    EXPECT_EQ(runner.generate(prompt, config, [&](const std::string& p) { pieces += p; }),
              Error::Ok);
    return pieces;
  }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string program_;
  std::string path_;
};

}  // namespace

TEST_F(StateFileTest, AnotherRunnerGoesOn) {
  auto first = make();
  ASSERT_TRUE(first->prefill("hello ").ok());
  ASSERT_EQ(first->save_state(path_), Error::Ok);
  const std::string expected = toy_text(toy_answer(toy_tokens("hello world"), 5));
  EXPECT_EQ(text(*first, "world", 5), expected);

  auto second = make();
  text(*second, "something else", 3);
  ASSERT_EQ(second->restore_state(path_), Error::Ok);
  EXPECT_EQ(toy_text(second->context()), "hello ");
  const int64_t calls = toy_calls().count;
  EXPECT_EQ(text(*second, "world", 5), expected);
  EXPECT_EQ(toy_calls().count, calls + 5) << "one call for the prompt, four for the answer";
}

TEST_F(StateFileTest, AnEmptyContextIsOne) {
  auto runner = make();
  ASSERT_EQ(runner->save_state(path_), Error::Ok);
  text(*runner, "abc", 2);
  ASSERT_EQ(runner->restore_state(path_), Error::Ok);
  EXPECT_TRUE(runner->context().empty());
  EXPECT_EQ(text(*runner, "abc", 2), toy_text(toy_answer(toy_tokens("abc"), 2)));
}

TEST_F(StateFileTest, CorruptedFilesChangeNothing) {
  auto runner = make();
  ASSERT_TRUE(runner->prefill("hello").ok());
  ASSERT_EQ(runner->save_state(path_), Error::Ok);
  const std::string whole = bytes();
  ASSERT_TRUE(runner->prefill("!").ok());
  for (size_t length = 0; length < whole.size(); length += 7) {
    write(whole.substr(0, length));
    EXPECT_NE(runner->restore_state(path_), Error::Ok) << length;
  }
  for (size_t at = 0; at < whole.size(); at += 5) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write(changed);
    EXPECT_NE(runner->restore_state(path_), Error::Ok) << at;
  }
  write(whole + "x");
  EXPECT_EQ(runner->restore_state(path_), Error::InvalidExternalData);
  EXPECT_EQ(toy_text(runner->context()), "hello!");
  EXPECT_EQ(text(*runner, "?", 3), toy_text(toy_answer(toy_tokens("hello!?"), 3)));
}

TEST_F(StateFileTest, ForeignFilesAndPlacesAreTold) {
  auto runner = make();
  EXPECT_EQ(runner->restore_state("/nowhere/state"), Error::AccessFailed);
  EXPECT_EQ(runner->save_state("/nowhere/state"), Error::AccessFailed);
  ASSERT_EQ(runner->save_state(path_), Error::Ok);
  ToyOptions options;
  options.eos_ids = {50};
  auto other = create_text_llm_runner(write_toy("state_other", options), byte_tokenizer());
  EXPECT_EQ(other->restore_state(path_), Error::InvalidArgument);
}
