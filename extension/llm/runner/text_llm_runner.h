// SPDX-License-Identifier: BSD-3-Clause
// TextLLMRunner: text in, text out, by a decoder program and a tokenizer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/context_runner.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/multimodal_input.h>
#include <executorch/extension/llm/runner/text_prefiller.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Keeps its context, the tokens whose keys and values the decoder has cached, from call to call:
// each prompt goes behind it. The last token of an answer is not in it, as nothing has been
// computed from it; generate("") goes on from there. Threads: one at a time, but stop().
class TextLLMRunner : public ContextRunner {
 public:
  // create_text_llm_runner() makes all of these. metadata: see get_llm_metadata(). temperature: -1,
  // or what holds instead of the configuration's.
  explicit TextLLMRunner(std::unordered_map<std::string, int64_t> metadata,
                         std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                         std::unique_ptr<::executorch::extension::Module> module,
                         std::unique_ptr<TextDecoderRunner> text_decoder_runner,
                         std::unique_ptr<TextPrefiller> text_prefiller,
                         std::unique_ptr<IOManager> io_manager,
                         std::unique_ptr<TextTokenGenerator> text_token_generator,
                         std::unique_ptr<Stats> stats, float temperature = -1.0f);

  // Appends the prompt and an answer. Pieces also go to the standard output unless config.warming.
  // An empty prompt goes on: from a prefill(), or from an answer that did not reach its end.
  // InvalidArgument, and nothing done, if the prompt has no tokens, does not fit into the context,
  // or the temperature is not from 0 to 2; InvalidState for an empty prompt without anything to go
  // on from; errors of the decoder, after which the context holds what was done.
  ::executorch::runtime::Error generate(
      const std::string& prompt, const GenerationConfig& config,
      std::function<void(const std::string&)> token_callback = {},
      std::function<void(const Stats&)> stats_callback = {}) override;

  // The same with text and tokens in any order; see prefill().
  ::executorch::runtime::Error generate(const std::vector<MultimodalInput>& inputs,
                                        const GenerationConfig& config,
                                        std::function<void(const std::string&)> token_callback = {},
                                        std::function<void(const Stats&)> stats_callback = {});

  ::executorch::runtime::Error generate_from_pos(
      const std::string& prompt, int64_t start_pos, const GenerationConfig& config,
      std::function<void(const std::string&)> token_callback = {},
      std::function<void(const Stats&)> stats_callback = {}) override;

  // Appends text and tokens; begin and end tokens go to the first text. The best next token, which
  // the answer of generate("") begins with. NotSupported for images and sound, InvalidArgument if
  // there are no tokens or no room for them.
  ::executorch::runtime::Result<uint64_t> prefill(const std::vector<MultimodalInput>& inputs,
                                                  int32_t num_bos = 0,
                                                  int32_t num_eos = 0) override;
  ::executorch::runtime::Result<uint64_t> prefill(const std::string& prompt, int32_t num_bos = 0,
                                                  int32_t num_eos = 0);
  ET_DEPRECATED ::executorch::runtime::Result<uint64_t> prefill(const std::string& prompt,
                                                                const GenerationConfig& config) {
    return prefill(prompt, config.num_bos, config.num_eos);
  }

  // An answer that nobody sees, then reset(): what is done once has been done before it counts.
  ::executorch::runtime::Error warmup(const std::string& prompt, int32_t max_new_tokens);

  // The context; its size is the position of the next token.
  const std::vector<uint64_t>& context() const { return context_.ids(); }

  // Forgets what follows the first `position` tokens. InvalidArgument if there are fewer;
  // NotSupported for a program whose caches do not keep all positions, which can go back to 0 only.
  ::executorch::runtime::Error rewind(int64_t position);

  // How much of the context keep_shared_beginning() would keep.
  int64_t shared_beginning(const std::vector<uint64_t>& tokens, bool exact = false) const {
    return context_.shared_beginning(tokens, exact && !text_prefiller_->is_one_by_one());
  }

  // Cuts the context to what `tokens` begin with, and says how many that are; one at least is left
  // to compute. With `exact` only what came of prompts is kept, and a few tokens more are left, so
  // that the next ones are bit for bit those of a new context: see Context::exact(). A program that
  // cannot go back begins anew unless its whole context is shared.
  ::executorch::runtime::Result<int64_t> keep_shared_beginning(const std::vector<uint64_t>& tokens,
                                                               bool exact = false);

  // The context with all that was computed for it, to a file, and back into a runner of the same
  // program; what that runner had is forgotten. See state_file.h, whose errors they have;
  // NotSupported for a program of several sessions.
  ::executorch::runtime::Error save_state(const std::string& path);
  ::executorch::runtime::Error restore_state(const std::string& path);

 private:
  runtime::Error begin_prompt_lookup(const GenerationConfig& config) override;
  runtime::Error run(const std::string* text, const std::vector<MultimodalInput>& inputs,
                     GenerationConfig config, const TokenCallback& token_callback,
                     const StatsCallback& stats_callback);
  runtime::Error put(const std::string* text, const std::vector<MultimodalInput>& inputs,
                     const GenerationConfig& config, const TokenCallback& show);
  runtime::Result<std::vector<uint64_t>> encode(const std::vector<MultimodalInput>& inputs,
                                                int32_t num_bos, int32_t num_eos) const;
  // What the repetition penalty is of: the context, and the token that waits.
  void accept_context();
  runtime::Result<uint64_t> feed(const std::vector<uint64_t>& tokens, float temperature);
  runtime::Error check_has_own_caches() const;

  std::unique_ptr<TextPrefiller> text_prefiller_;
  float temperature_;
};

}  // namespace executorch::extension::llm
