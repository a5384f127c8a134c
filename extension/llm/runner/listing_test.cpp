// SPDX-License-Identifier: BSD-3-Clause
// The document's basic usage, with its headers and the files of a test.
#include <fstream>
#include <iostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/text_llm_runner.h>

#include <executorch/extension/llm/runner/test/toy_decoder.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;

namespace {

// As printed, but for the paths and what load() and generate() return.
int run_listing(const std::string& model_path, const std::string& tokenizer_path) {
  // Load tokenizer and create runner
  auto tokenizer = load_tokenizer(tokenizer_path, nullptr, std::nullopt, 0, 0);
  auto runner = create_text_llm_runner(model_path, std::move(tokenizer));

  // Load the model
  if (runner->load() != executorch::runtime::Error::Ok) {
    return 1;
  }

  // Configure generation
  GenerationConfig config;
  config.max_new_tokens = 100;
  config.temperature = 0.8f;

  // Generate text with streaming output
  return runner->generate(
             "Hello, world!", config,
             [](const std::string& token) { std::cout << token << std::flush; },
             nullptr) == executorch::runtime::Error::Ok
             ? 0
             : 1;
}

// A byte-pair tokenizer of the printable characters, in their order; the toy's tokens are some of
// them.
std::string write_tokenizer() {
  const std::string path = testing::TempDir() + "/llm_listing_tokenizer.json";
  std::ofstream file(path);
  file
      << R"({"added_tokens":[],"pre_tokenizer":null,"decoder":null,"model":{"type":"BPE","vocab":{)";
  for (int i = 0; i < toys::kToyVocabulary; ++i) {
    const bool is_quoted = i == '"' || i == '\\';
    file << (i == 0 ? "" : ",") << '"';
    if (i < 32 || i == 127) {
      file << "<" << i << ">";
    } else {
      file << (is_quoted ? "\\" : "") << static_cast<char>(i);
    }
    file << "\":" << i;
  }
  file << R"(},"merges":[]}})";
  return path;
}

}  // namespace

TEST(ListingTest, TheDocumentsBasicUsageRuns) {
  RecordProperty("req", "LLM-035");
  executorch::runtime::runtime_init();
  toys::register_toy_kernel();
  testing::internal::CaptureStdout();
  const int code = run_listing(toys::write_toy("listing"), write_tokenizer());
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  // The echo is printed, and goes to the callback, which prints it, too.
  EXPECT_THAT(out, testing::StartsWith("Hello, world!Hello, world!"));
  EXPECT_THAT(out, testing::HasSubstr("\"prompt_tokens\":13"));
}
