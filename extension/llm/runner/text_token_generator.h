// SPDX-License-Identifier: BSD-3-Clause
// TextTokenGenerator: the loop that makes one token after the other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/text/sampler/logit_processor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Threads: one at a time, but stop().
class TextTokenGenerator {
 public:
  // Borrows tokenizer, decoder runner and stats, which notes the time of sampling.
  TextTokenGenerator(::tokenizers::Tokenizer* tokenizer, TextDecoderRunner* text_decoder_runner,
                     bool use_kv_cache, std::unique_ptr<std::unordered_set<uint64_t>>&& eos_ids,
                     Stats* stats)
      : tokenizer_(tokenizer),
        text_decoder_runner_(text_decoder_runner),
        use_kv_cache_(use_kv_cache),
        eos_ids_(std::move(eos_ids)),
        stats_(stats) {}
  virtual ~TextTokenGenerator() = default;

  // Makes up to max_new_tokens. `tokens`: the prompt and the token that follows it, of which only
  // the last is fed to a decoder with a cache; start_pos: where that one stands. Each token's text
  // goes to token_callback, also that of one that ends the answer; then stop() and the end are seen
  // to. The number of tokens made; see made_tokens() and is_at_eos(). Aborts without tokens;
  // InvalidArgument if the temperature is not from 0 to 2 or a token has no text; errors of the
  // decoder and of logit processors.
  ::executorch::runtime::Result<int64_t> generate(
      std::vector<uint64_t> tokens, int64_t start_pos, int32_t max_new_tokens,
      float temperature = 0.0f, const std::function<void(const std::string&)>& token_callback = {});

  // Ends generate() after the token that it is at; from any thread, or from the callback. Lost
  // before generate().
  void stop() { should_stop_.store(true, std::memory_order_relaxed); }

  // Up to `most` tokens are guessed and fed along with each one: those that followed the last few
  // when these came before. Only with a decoder that keeps all positions and has_all_logits(),
  // whose calls take `tokens_per_call`; end_position: the context's length. 0: none are guessed.
  void set_prompt_lookup(int32_t most, int64_t tokens_per_call, int64_t end_position) {
    most_guesses_ = std::min<int64_t>(most, tokens_per_call - 1);
    end_position_ = end_position;
  }

  void set_ignore_eos(bool ignore_eos) { ignore_eos_ = ignore_eos; }
  // The text of a token that ends the answer does not go to the callback.
  void set_hide_eos(bool hide_eos) { hide_eos_ = hide_eos; }

  // They run in this order on the logits of each token; null ones are ignored.
  void add_logit_processor(std::shared_ptr<LogitProcessor> processor);
  void clear_logit_processors() { logit_processors_.clear(); }
  size_t num_logit_processors() const { return logit_processors_.size(); }
  // The first error ends it.
  ::executorch::runtime::Error apply_logit_processors(executorch::aten::Tensor& logits);

  ::executorch::runtime::Error load() { return text_decoder_runner_->load(); }
  bool is_loaded() const {
    return tokenizer_->is_loaded() && text_decoder_runner_->is_method_loaded();
  }

  bool is_eos(uint64_t token) const { return eos_ids_ != nullptr && eos_ids_->count(token) > 0; }
  // Empty if none were given.
  std::unordered_set<uint64_t> eos_ids() const {
    return eos_ids_ != nullptr ? *eos_ids_ : std::unordered_set<uint64_t>();
  }

  // Of the last generate(), also of one that failed: the tokens that were made; whether the last
  // one ended the answer.
  const std::vector<uint64_t>& made_tokens() const { return made_tokens_; }
  bool is_at_eos() const { return is_at_eos_; }

 private:
  // One call of the decoder, and the tokens after it: one, and more while guesses are right.
  ::executorch::runtime::Error make_tokens(
      std::vector<uint64_t>& tokens, int64_t position, int64_t most, float temperature,
      const std::function<void(const std::string&)>& token_callback);
  ::executorch::runtime::Result<uint64_t> sample(executorch::aten::Tensor& logits,
                                                 float temperature);
  ::executorch::runtime::Error show(uint64_t previous, uint64_t token,
                                    const std::function<void(const std::string&)>& token_callback);

  ::tokenizers::Tokenizer* tokenizer_;
  TextDecoderRunner* text_decoder_runner_;
  bool use_kv_cache_;
  std::unique_ptr<std::unordered_set<uint64_t>> eos_ids_;
  Stats* stats_;
  std::vector<std::shared_ptr<LogitProcessor>> logit_processors_;
  int64_t most_guesses_ = 0;
  int64_t end_position_ = 0;
  bool ignore_eos_ = false;
  bool hide_eos_ = false;
  std::atomic<bool> should_stop_{false};
  std::vector<uint64_t> made_tokens_;
  bool is_at_eos_ = false;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::TextTokenGenerator;
}  // namespace torch::executor
