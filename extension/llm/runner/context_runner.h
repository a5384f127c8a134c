// SPDX-License-Identifier: BSD-3-Clause
// ContextRunner: what the runners of text and of several kinds of input have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/answer_grammar.h>
#include <executorch/extension/llm/runner/context.h>
#include <executorch/extension/llm/runner/io_manager/io_manager.h>
#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/llm/runner/text_token_generator.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Why a generation ended.
enum class FinishReason {
  None,         // nothing was generated, or an error ended it
  EndOfText,    // the model said so
  Length,       // max_new_tokens or seq_len
  ContextFull,  // no room: reset(), or go back by generate_from_pos()
  Stopped,      // stop()
};

// Owns its parts and the one context, and makes answers; which inputs a prompt has, and how they
// come into the context, is the derived runner's. Threads: one at a time, but stop().
class ContextRunner : public IRunner {
 public:
  bool is_loaded() const override { return text_token_generator_->is_loaded(); }
  runtime::Error load() override;
  void stop() override;
  void reset() override;

  // Of the last generate().
  FinishReason finish_reason() const { return finish_reason_; }

  // Of the last generate() with top_logprobs: a row for each token of the answer, also for that
  // which ended it. Empty without a sampler.
  std::vector<TokenLogprobs> logprobs() const;

  // What it was made from; they live as long as it.
  ::tokenizers::Tokenizer* tokenizer() { return tokenizer_.get(); }
  Module* module() { return module_.get(); }
  const std::unordered_map<std::string, int64_t>& metadata() const { return metadata_; }

 protected:
  // What waits to be fed: the next token, and whether its text has been shown.
  struct Pending {
    uint64_t token;
    bool is_shown;
  };

  ContextRunner(std::unordered_map<std::string, int64_t> metadata,
                std::unique_ptr<::tokenizers::Tokenizer> tokenizer, std::unique_ptr<Module> module,
                std::unique_ptr<TextDecoderRunner> text_decoder_runner,
                std::unique_ptr<IOManager> io_manager,
                std::unique_ptr<TextTokenGenerator> text_token_generator,
                std::unique_ptr<Stats> stats);

  virtual runtime::Error load_methods() { return text_token_generator_->load(); }
  // Of an answer that is to begin. NotSupported where it cannot be.
  virtual runtime::Error begin_prompt_lookup(const GenerationConfig& config) = 0;

  // An answer, in the order of things: checks the configuration, loads, fills in what it leaves to
  // the program, then `prompt`, which puts a token into pending_, answer(), and the report.
  runtime::Error run(const GenerationConfig& config, const TokenCallback& token_callback,
                     const StatsCallback& stats_callback,
                     const std::function<runtime::Error(const GenerationConfig& config,
                                                        const TokenCallback& show)>& prompt);

  Sampler* sampler() const { return text_decoder_runner_->sampler(); }
  // For the repetition penalty.
  void accept(uint64_t token) {
    if (sampler() != nullptr) {
      sampler()->accept(token);
    }
  }

  std::unordered_map<std::string, int64_t> metadata_;
  std::unique_ptr<::tokenizers::Tokenizer> tokenizer_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<TextDecoderRunner> text_decoder_runner_;
  std::unique_ptr<IOManager> io_manager_;
  std::unique_ptr<TextTokenGenerator> text_token_generator_;
  std::unique_ptr<Stats> stats_;
  Context context_;
  std::optional<Pending> pending_;

 private:
  runtime::Error begin(GenerationConfig* config);
  runtime::Error answer(const GenerationConfig& config, const TokenCallback& show);
  runtime::Result<int64_t> decode(int32_t count, const GenerationConfig& config,
                                  const TokenCallback& show);
  void say_end(const GenerationConfig& config, int32_t wanted) const;

  GenerationConfig default_sampling_;  // the program's
  AnswerGrammar grammar_;
  FinishReason finish_reason_ = FinishReason::None;
  std::atomic<bool> is_ready_{false};  // is_loaded(), for other threads
  std::atomic<bool> should_stop_{false};
};

}  // namespace executorch::extension::llm
