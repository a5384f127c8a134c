// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/multimodal_runner.h>

#include <cinttypes>
#include <utility>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/generation.h>
#include <executorch/extension/llm/runner/print_status.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

MultimodalRunner::MultimodalRunner(std::unordered_map<std::string, int64_t> metadata,
                                   std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                                   std::unique_ptr<Module> module,
                                   std::unique_ptr<MultimodalDecoderRunner> text_decoder_runner,
                                   std::unique_ptr<MultimodalPrefiller> multimodal_prefiller,
                                   std::unique_ptr<IOManager> io_manager,
                                   std::unique_ptr<TextTokenGenerator> text_token_generator,
                                   std::unique_ptr<Stats> stats)
    : metadata_(std::move(metadata)),
      tokenizer_(std::move(tokenizer)),
      module_(std::move(module)),
      text_decoder_runner_(std::move(text_decoder_runner)),
      multimodal_prefiller_(std::move(multimodal_prefiller)),
      io_manager_(std::move(io_manager)),
      text_token_generator_(std::move(text_token_generator)),
      stats_(std::move(stats)),
      context_(metadata_) {}

bool MultimodalRunner::is_loaded() const {
  return multimodal_prefiller_->is_method_loaded() && text_token_generator_->is_loaded();
}

Error MultimodalRunner::load() {
  if (is_loaded()) {
    return Error::Ok;
  }
  stats_->model_load_start_ms = time_in_ms();
  ET_CHECK_OK_OR_RETURN_ERROR(multimodal_prefiller_->load());
  ET_CHECK_OK_OR_RETURN_ERROR(text_token_generator_->load());
  default_sampling_ = sampling_of_program(*module_);
  stats_->model_load_end_ms = time_in_ms();
  return Error::Ok;
}

void MultimodalRunner::stop() {
  should_stop_.store(true);
  text_token_generator_->stop();
}

void MultimodalRunner::reset() {
  stats_->reset();
  context_.clear();
  prefill_next_token_.reset();
}

// Also of an input that failed midway the context holds what was done.
Result<uint64_t> MultimodalRunner::append(const MultimodalInput& input, int32_t num_bos,
                                          int32_t num_eos) {
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
    prefill_next_token_ = next;
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

Error MultimodalRunner::begin(GenerationConfig* wanted) {
  GenerationConfig& config = *wanted;
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(config.temperature));
  should_stop_.store(false);
  stats_->reset();
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  config = with_defaults(config, default_sampling_);
  begin_answer(config, *text_decoder_runner_, *text_token_generator_);
  ET_CHECK_OR_RETURN_ERROR(config.prompt_lookup == 0, NotSupported,
                           "prompt_lookup is for programs of text");
  return grammar_.begin(config, *tokenizer_, text_token_generator_->eos_ids(),
                        text_decoder_runner_->sampler());
}

Error MultimodalRunner::generate(const std::vector<MultimodalInput>& inputs,
                                 const GenerationConfig& wanted,
                                 std::function<void(const std::string&)> token_callback,
                                 std::function<void(const Stats&)> stats_callback) {
  GenerationConfig config = wanted;
  ET_CHECK_OR_RETURN_ERROR(!inputs.empty(), InvalidArgument, "Expected an input, got none");
  ET_CHECK_OK_OR_RETURN_ERROR(begin(&config));
  const Show show =
      make_show(config, std::move(token_callback), should_stop_, *text_token_generator_);
  stats_->inference_start_ms = time_in_ms();
  if (config.echo && inputs.back().is_text()) {
    show(inputs.back().get_text());
  }
  const Error error = make_answer(inputs, config, show);
  const Error of_grammar = grammar_.end(text_decoder_runner_->sampler());
  ET_CHECK_OK_OR_RETURN_ERROR(error);
  ET_CHECK_OK_OR_RETURN_ERROR(of_grammar);
  report(config, *stats_, stats_callback);
  return Error::Ok;
}

Error MultimodalRunner::make_answer(const std::vector<MultimodalInput>& inputs,
                                    const GenerationConfig& config, const Show& show) {
  ET_CHECK_OK_OR_RETURN_ERROR(prefill(inputs, config.num_bos, config.num_eos).error());
  print_memory_status("multimodal input processing", config);
  return answer(config, show);
}

Error MultimodalRunner::answer(const GenerationConfig& config,
                               const std::function<void(const std::string&)>& show) {
  const int64_t most = context_.length();
  const int32_t wanted = config.resolve_max_new_tokens(most, context_.size());
  ET_CHECK_OR_RETURN_ERROR(wanted > 0, InvalidArgument,
                           "No token may be generated: expected room in the context of %" PRId64
                           " positions, seq_len and max_new_tokens, found %" PRId64 " occupied",
                           most, context_.size());
  const uint64_t first = multimodal_prefiller_->sample(config.temperature);
  stats_->first_token_ms = stats_->prompt_eval_end_ms = time_in_ms();
  stats_->num_prompt_tokens = context_.size();
  const std::string piece = ET_UNWRAP(text_of(*tokenizer_, first));
  const bool is_end = !config.ignore_eos && text_token_generator_->is_eos(first);
  if (!is_end || !config.hide_eos) {
    show(piece);
  }
  if (!is_end && !should_stop_.load()) {
    const auto made = text_token_generator_->generate({first}, context_.size(), wanted - 1,
                                                      config.temperature, show);
    const auto& tokens = text_token_generator_->made_tokens();
    stats_->num_generated_tokens = static_cast<int64_t>(tokens.size());
    if (!tokens.empty()) {  // the last one is not fed
      context_.append(first);
      context_.append({tokens.begin(), tokens.end() - 1});
    }
    ET_CHECK_OK_OR_RETURN_ERROR(made.error());
  }
  stats_->inference_end_ms = time_in_ms();
  end_answer(config);
  return Error::Ok;
}

}  // namespace executorch::extension::llm
