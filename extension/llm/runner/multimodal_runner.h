// SPDX-License-Identifier: BSD-3-Clause
// MultimodalRunner: text, images and sound in, text out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/context_runner.h>
#include <executorch/extension/llm/runner/multimodal_decoder_runner.h>
#include <executorch/extension/llm/runner/multimodal_prefiller.h>
#include <executorch/extension/module/module.h>

namespace executorch::extension::llm {

// Keeps its context from call to call, as TextLLMRunner does. Threads: one at a time, but stop().
class MultimodalRunner : public ContextRunner {
 public:
  // create_multimodal_runner() makes all of these.
  explicit MultimodalRunner(std::unordered_map<std::string, int64_t> metadata,
                            std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                            std::unique_ptr<Module> module,
                            std::unique_ptr<MultimodalDecoderRunner> text_decoder_runner,
                            std::unique_ptr<MultimodalPrefiller> multimodal_prefiller,
                            std::unique_ptr<IOManager> io_manager,
                            std::unique_ptr<TextTokenGenerator> text_token_generator,
                            std::unique_ptr<Stats> stats);
  ~MultimodalRunner() override = default;

  bool is_loaded() const override;

  // Appends a text, which may not be empty, and an answer.
  ::executorch::runtime::Error generate(
      const std::string& prompt, const GenerationConfig& config,
      std::function<void(const std::string&)> token_callback = {},
      std::function<void(const Stats&)> stats_callback = {}) override;

  // Appends inputs in their order, and an answer. Begin and end tokens of the configuration go to
  // the first input of a context. With echo, the last input is shown if it is text. InvalidArgument
  // without inputs, without room in the context for an answer, or for a temperature that is not
  // from 0 to 2; errors of MultimodalPrefiller and of the decoder, after which the context holds
  // what was done.
  virtual ::executorch::runtime::Error generate(
      const std::vector<MultimodalInput>& inputs, const GenerationConfig& config,
      std::function<void(const std::string&)> token_callback = {},
      std::function<void(const Stats&)> stats_callback = {});

  // Appends inputs; the best next token, 0 without inputs. A first input of a context that has no
  // text gets its begin tokens before it.
  ::executorch::runtime::Result<uint64_t> prefill(const std::vector<MultimodalInput>& inputs,
                                                  int32_t num_bos = 0,
                                                  int32_t num_eos = 0) override;
  ::executorch::runtime::Result<uint64_t> prefill(const std::string& prompt, int32_t num_bos = 0,
                                                  int32_t num_eos = 0);

  // Positions of the context.
  int64_t position() const { return context_.size(); }

 private:
  ::executorch::runtime::Error load_methods() override;
  ::executorch::runtime::Error begin_prompt_lookup(const GenerationConfig& config) override;
  ::executorch::runtime::Result<uint64_t> append(const MultimodalInput& input, int32_t num_bos,
                                                 int32_t num_eos);

  std::unique_ptr<MultimodalPrefiller> multimodal_prefiller_;
};

}  // namespace executorch::extension::llm
