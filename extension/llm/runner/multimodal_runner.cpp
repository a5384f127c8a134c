// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/multimodal_runner.h>

#include <utility>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/print_status.h>

namespace executorch::extension::llm {

MultimodalRunner::MultimodalRunner(std::unordered_map<std::string, int64_t> metadata,
                                   std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                                   std::unique_ptr<Module> module,
                                   std::unique_ptr<MultimodalDecoderRunner> text_decoder_runner,
                                   std::unique_ptr<MultimodalPrefiller> multimodal_prefiller,
                                   std::unique_ptr<IOManager> io_manager,
                                   std::unique_ptr<TextTokenGenerator> text_token_generator,
                                   std::unique_ptr<Stats> stats)
    : ContextRunner(std::move(metadata), std::move(tokenizer), std::move(module),
                    std::move(text_decoder_runner), std::move(io_manager),
                    std::move(text_token_generator), std::move(stats)),
      multimodal_prefiller_(std::move(multimodal_prefiller)) {}

bool MultimodalRunner::is_loaded() const {
  return multimodal_prefiller_->is_method_loaded() && ContextRunner::is_loaded();
}

Error MultimodalRunner::load_methods() {
  ET_CHECK_OK_OR_RETURN_ERROR(multimodal_prefiller_->load());
  return ContextRunner::load_methods();
}

Error MultimodalRunner::begin_prompt_lookup(const GenerationConfig& config) {
  ET_CHECK_OR_RETURN_ERROR(config.prompt_lookup == 0, NotSupported,
                           "prompt_lookup is for programs of text");
  return Error::Ok;
}

// Also of an input that failed midway the context holds what was done.
Result<uint64_t> MultimodalRunner::append(const MultimodalInput& input, int32_t num_bos,
                                          int32_t num_eos) {
  pending_.reset();
  int64_t position = context_.size();
  auto next = multimodal_prefiller_->prefill(input, position, num_bos, num_eos);
  context_.resize(position);
  return next;
}

Result<uint64_t> MultimodalRunner::prefill(const std::vector<MultimodalInput>& inputs,
                                           int32_t num_bos, int32_t num_eos) {
  uint64_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_first = i == 0 && context_.size() == 0;
    const bool has_text = inputs[i].is_text() || inputs[i].is_tokens();
    if (is_first && !has_text && num_bos > 0) {
      const auto bos = static_cast<uint64_t>(metadata_.at(kBosId));
      const std::vector<uint64_t> begin(static_cast<size_t>(num_bos), bos);
      ET_CHECK_OK_OR_RETURN_ERROR(append(make_token_input(begin), 0, 0).error());
    }
    next = ET_UNWRAP(append(inputs[i], is_first ? num_bos : 0, is_first ? num_eos : 0),
                     "Input %zu of %zu (%s) failed", i, inputs.size(), inputs[i].type_name());
  }
  return next;
}

Result<uint64_t> MultimodalRunner::prefill(const std::string& prompt, int32_t num_bos,
                                           int32_t num_eos) {
  return prefill({make_text_input(prompt)}, num_bos, num_eos);
}

Error MultimodalRunner::generate(const std::string& prompt, const GenerationConfig& config,
                                 std::function<void(const std::string&)> token_callback,
                                 std::function<void(const Stats&)> stats_callback) {
  ET_CHECK_OR_RETURN_ERROR(!prompt.empty(), InvalidArgument, "Expected a prompt, got none");
  return generate(std::vector<MultimodalInput>{make_text_input(prompt)}, config,
                  std::move(token_callback), std::move(stats_callback));
}

Error MultimodalRunner::generate(const std::vector<MultimodalInput>& inputs,
                                 const GenerationConfig& wanted,
                                 std::function<void(const std::string&)> token_callback,
                                 std::function<void(const Stats&)> stats_callback) {
  ET_CHECK_OR_RETURN_ERROR(!inputs.empty(), InvalidArgument, "Expected an input, got none");
  return run(wanted, token_callback, stats_callback,
             [&](const GenerationConfig& config, const TokenCallback& show) {
               if (config.echo && inputs.back().is_text()) {
                 show(inputs.back().get_text());
               }
               ET_CHECK_OK_OR_RETURN_ERROR(prefill(inputs, config.num_bos, config.num_eos).error());
               print_memory_status("multimodal input processing", config);
               stats_->num_prompt_tokens = context_.size();
               pending_ = Pending{multimodal_prefiller_->sample(config.temperature), false};
               accept(pending_->token);
               return Error::Ok;
             });
}

}  // namespace executorch::extension::llm
