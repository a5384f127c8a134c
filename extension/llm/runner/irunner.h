// SPDX-License-Identifier: BSD-3-Clause
// IRunner: what every runner of language models does; GenerationConfig: how it shall do it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/llm/runner/multimodal_input.h>
#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/text/sampler/sampler.h>
#include <executorch/extension/text/sampler/setting.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

struct GenerationConfig {
  // The prompt goes to the callback and the standard output before the answer.
  bool echo = true;
  // What the answer's text must be, see parse_grammar(): a token that would leave it is not
  // sampled, and the answer ends where it must. Empty: anything.
  std::string grammar = {};
  std::string grammar_type = {};  // json_schema or gbnf; others are refused
  // Goes on after a token that ends the answer.
  bool ignore_eos = false;
  // Tokens of the answer; -1: as many as the context has room for.
  int32_t max_new_tokens = -1;
  // A run whose answer nobody reads: nothing is printed.
  bool warming = false;
  // Tokens of prompt and answer together; -1: the context's length.
  int32_t seq_len = -1;
  // 0: always the best token; up to kMaxTemperature. This and the other settings of sampling are
  // the program's where nobody sets them, and these where the program has none; see
  // sampling_settings.h.
  Setting<float> temperature = Setting<float>::unless_given(0.8f);
  // How often the tokenizer's tokens for begin and end go before and behind the prompt.
  int32_t num_bos = 0;
  int32_t num_eos = 0;
  // See Sampler, for these six. With top_k, top_p counts only if it is set, too.
  Setting<int32_t> top_k = Setting<int32_t>::unless_given(0);
  Setting<float> top_p = Setting<float>::unless_given(kTopp);
  Setting<float> min_p = Setting<float>::unless_given(0);
  Setting<float> repetition_penalty = Setting<float>::unless_given(1);
  // Of the tokens of this answer.
  Setting<float> frequency_penalty = Setting<float>::unless_given(0);
  Setting<float> presence_penalty = Setting<float>::unless_given(0);
  // Of the random numbers of this call; without one they go on from those of the last one.
  std::optional<uint64_t> seed = std::nullopt;
  // The text of a token that ends the answer does not go to the callback.
  bool hide_eos = false;
  // With each token of the answer, so many of the most probable ones; -1: not even its own
  // probability. See TextLLMRunner::logprobs().
  int32_t top_logprobs = -1;
  // Speculative decoding: up to so many tokens are guessed, by what followed the last ones when
  // they came before, and checked in one call. The answer's distribution is the same. 0: off. For
  // programs with the logits of all tokens (generate_full_logits) that keep all positions.
  int32_t prompt_lookup = 0;
  // Text goes to the callback only, and nothing but errors to the log.
  bool silent = false;

  // How many tokens may be generated when `num_tokens_occupied` of a context of `max_context_len`
  // are in use: as many as are free, less what seq_len and max_new_tokens forbid; 0 at least.
  int32_t resolve_max_new_tokens(int64_t max_context_len, int64_t num_tokens_occupied) const {
    const int64_t total =
        seq_len == -1 ? max_context_len : std::min<int64_t>(seq_len, max_context_len);
    const int64_t room = total - num_tokens_occupied;
    const int64_t wanted = max_new_tokens == -1 ? room : std::min<int64_t>(max_new_tokens, room);
    return static_cast<int32_t>(std::clamp<int64_t>(wanted, 0, INT32_MAX));
  }
};

// Threads: one call at a time, but stop(), which any thread may call at any time.
class IRunner {
 public:
  using TokenCallback = std::function<void(const std::string&)>;
  using StatsCallback = std::function<void(const Stats&)>;

  virtual ~IRunner() = default;

  virtual bool is_loaded() const = 0;

  // Loads what generate() needs; it calls this itself. No effect if that has been done.
  virtual runtime::Error load() = 0;

  // Appends the prompt and the answer to the context. token_callback gets each piece of text as
  // soon as it is there, on the calling thread: bytes that may end within a UTF-8 character.
  virtual runtime::Error generate(const std::string& prompt, const GenerationConfig& config,
                                  std::function<void(const std::string&)> token_callback,
                                  std::function<void(const Stats&)> stats_callback) = 0;

  // As above, after the first `start_pos` tokens of the context; what follows them is forgotten.
  // InvalidArgument if the context has fewer; NotSupported by runners without positions.
  virtual runtime::Error generate_from_pos(const std::string& prompt, int64_t start_pos,
                                           const GenerationConfig& config,
                                           std::function<void(const std::string&)> token_callback,
                                           std::function<void(const Stats&)> stats_callback) {
    (void)prompt, (void)start_pos, (void)config, (void)token_callback, (void)stats_callback;
    return runtime::Error::NotSupported;
  }

  // Appends inputs to the context; the next token is what the answer would begin with.
  virtual runtime::Result<uint64_t> prefill(const std::vector<MultimodalInput>& inputs,
                                            int32_t num_bos = 0, int32_t num_eos = 0) {
    (void)inputs, (void)num_bos, (void)num_eos;
    return runtime::Error::NotSupported;
  }

  // Ends generate() after the token that it is at. Without one that runs, no effect.
  virtual void stop() = 0;

  // Forgets the context.
  virtual void reset() = 0;
};

}  // namespace executorch::extension::llm
