// SPDX-License-Identifier: BSD-3-Clause
// What goes around an answer's text: chat formats before it, texts that end it behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/chat_format.h>
#include <executorch/extension/llm/runner/stop_filter.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using executorch::runtime::Error;

namespace {

const std::vector<ChatMessage> kTurns = {
    {"system", "Be brief."}, {"user", " Hi \n"}, {"assistant", "Yes"}, {"user", "b"}};

std::string chat(const char* name, const std::vector<ChatMessage>& messages) {
  executorch::runtime::runtime_init();
  const auto format = find_chat_format(name);
  const auto text = format_chat(**format, messages);
  return text.ok() ? *text : "";
}

TEST(ChatFormat, EachAsItsModelsWereTuned) {
  EXPECT_EQ(chat("chatml", kTurns),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi \n<|im_end|>\n"
            "<|im_start|>assistant\nYes<|im_end|>\n<|im_start|>user\nb<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(chat("llama3", kTurns),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nYes<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nb<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(chat("gemma", {kTurns.begin() + 1, kTurns.end()}),
            "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nYes<end_of_turn>\n"
            "<start_of_turn>user\nb<end_of_turn>\n<start_of_turn>model\n");
}

TEST(ChatFormat, TemplatesAreKnownByTheirMarks) {
  executorch::runtime::runtime_init();
  EXPECT_STREQ((*chat_format_of("{{'<|im_start|>' + m.role}}"))->name, "chatml");
  EXPECT_STREQ((*chat_format_of("{{'<start_of_turn>' + role}}"))->name, "gemma");
  EXPECT_EQ(chat_format_of("[INST]").error(), Error::NotSupported);
  EXPECT_EQ(find_chat_format("").error(), Error::InvalidArgument);
}

// All that is shown of pieces, each of one byte.
std::string shown(StopFilter& filter, const std::string& text) {
  std::string all;
  for (const char each : text) {
    all += filter.add(std::string(1, each));
  }
  return all;
}

TEST(StopFilter, EndsBeforeTheFirstOfItsTexts) {
  StopFilter filter({"", "stop", "sto!"});
  EXPECT_EQ(shown(filter, "a sto, a st stop, and more"), "a sto, a st ");
  EXPECT_TRUE(filter.is_hit());
  EXPECT_EQ(filter.finish(), "");
}

TEST(StopFilter, WhatOnlyBeganIsShownAtTheEnd) {
  StopFilter filter({"aab"});
  EXPECT_EQ(shown(filter, "xaa"), "x");
  EXPECT_EQ(shown(filter, "a"), "a");  // of "aaa" the last two may yet begin it
  EXPECT_FALSE(filter.is_hit());
  EXPECT_EQ(filter.finish(), "aa");
}

TEST(StopFilter, CharactersAreWhole) {
  StopFilter filter({"\xc3\xb6"});
  EXPECT_EQ(filter.add("a\xf0\x9f"), "a");
  EXPECT_EQ(filter.add("\x98"), "");
  EXPECT_EQ(filter.add("\x80z\xc3"), "\xf0\x9f\x98\x80z");
  EXPECT_EQ(filter.add("\xb6y"), "");
  EXPECT_TRUE(filter.is_hit());
}

}  // namespace
