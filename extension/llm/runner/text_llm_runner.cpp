// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_llm_runner.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <utility>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/print_status.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/state_file.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

TextLLMRunner::TextLLMRunner(std::unordered_map<std::string, int64_t> metadata,
                             std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                             std::unique_ptr<::executorch::extension::Module> module,
                             std::unique_ptr<TextDecoderRunner> text_decoder_runner,
                             std::unique_ptr<TextPrefiller> text_prefiller,
                             std::unique_ptr<IOManager> io_manager,
                             std::unique_ptr<TextTokenGenerator> text_token_generator,
                             std::unique_ptr<Stats> stats, float temperature)
    : metadata_(std::move(metadata)),
      tokenizer_(std::move(tokenizer)),
      module_(std::move(module)),
      text_decoder_runner_(std::move(text_decoder_runner)),
      text_prefiller_(std::move(text_prefiller)),
      io_manager_(std::move(io_manager)),
      text_token_generator_(std::move(text_token_generator)),
      stats_(std::move(stats)),
      temperature_(temperature),
      context_(metadata_) {}

bool TextLLMRunner::is_loaded() const {
  return text_prefiller_->is_loaded() && text_token_generator_->is_loaded();
}

Error TextLLMRunner::load() {
  if (!is_loaded()) {
    stats_->model_load_start_ms = time_in_ms();
    ET_CHECK_OK_OR_RETURN_ERROR(text_prefiller_->load());
    ET_CHECK_OK_OR_RETURN_ERROR(io_manager_->load());
    ET_CHECK_OK_OR_RETURN_ERROR(text_token_generator_->load());
    default_sampling_ = sampling_of_program(*module_);
    stats_->model_load_end_ms = time_in_ms();
  }
  is_ready_.store(true);
  return Error::Ok;
}

void TextLLMRunner::stop() {
  if (!is_ready_.load()) {
    ET_LOG(Error, "stop() of a runner that is not loaded has no effect");
    return;
  }
  should_stop_.store(true);
  text_token_generator_->stop();
}

void TextLLMRunner::reset() {
  stats_->reset();
  context_.clear();
  pending_.reset();
  if (Sampler* sampler = text_decoder_runner_->sampler()) {
    sampler->forget_accepted();
  }
  if (io_manager_->reset() != Error::Ok) {
    ET_LOG(Error, "The IOManager failed to reset: the next context may see this one's");
  }
}

Error TextLLMRunner::rewind(int64_t position) {
  const int64_t before = context_.size();
  ET_CHECK_OK_OR_RETURN_ERROR(context_.rewind(position));
  if (position < before) {
    pending_.reset();
  }
  accept_context();
  return Error::Ok;
}

void TextLLMRunner::accept_context() {
  Sampler* sampler = text_decoder_runner_->sampler();
  if (sampler == nullptr) {
    return;
  }
  sampler->forget_accepted();
  for (const uint64_t token : context_.ids()) {
    sampler->accept(token);
  }
  if (pending_.has_value()) {
    sampler->accept(pending_->token);
  }
}

Result<int64_t> TextLLMRunner::keep_shared_beginning(const std::vector<uint64_t>& tokens) {
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument, "Expected a token at least, got none");
  const int64_t shared = context_.shared_beginning(tokens);
  if (shared == 0) {
    reset();
  }
  ET_CHECK_OK_OR_RETURN_ERROR(rewind(shared));
  return shared;
}

Error TextLLMRunner::check_has_own_caches() const {
  ET_CHECK_OR_RETURN_ERROR(constant_of(metadata_, kMaxSessions, 1) == 1, NotSupported,
                           "The caches of this program are those of several sessions: keep the "
                           "ids of the context, and prefill() them");
  return Error::Ok;
}

Error TextLLMRunner::save_state(const std::string& path) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_has_own_caches());
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return write_state_file(path, *module_, text_decoder_runner_->method_name(),
                          constant_of(metadata_, kFingerprint, 0), context_.ids());
}

Error TextLLMRunner::restore_state(const std::string& path) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_has_own_caches());
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  auto context = ET_UNWRAP(read_state_file(path, *module_, text_decoder_runner_->method_name(),
                                           constant_of(metadata_, kFingerprint, 0)));
  reset();
  context_.assign(std::move(context));
  accept_context();
  return Error::Ok;
}

std::vector<TokenLogprobs> TextLLMRunner::logprobs() const {
  const Sampler* sampler = text_decoder_runner_->sampler();
  return sampler != nullptr ? sampler->logprobs() : std::vector<TokenLogprobs>();
}

Result<std::vector<uint64_t>> TextLLMRunner::encode(const std::vector<MultimodalInput>& inputs,
                                                    int32_t num_bos, int32_t num_eos) const {
  std::vector<uint64_t> tokens;
  bool is_first_text = true;
  for (const MultimodalInput& input : inputs) {
    if (const auto* given = input.try_get_tokens()) {
      tokens.insert(tokens.end(), given->begin(), given->end());
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(input.is_text(), NotSupported,
                             "Expected text or tokens, got %s: MultimodalRunner takes others",
                             input.type_name());
    const auto found =
        tokenizer_->encode(input.get_text(), static_cast<int8_t>(is_first_text ? num_bos : 0),
                           static_cast<int8_t>(is_first_text ? num_eos : 0));
    ET_CHECK_OR_RETURN_ERROR(found.ok(), InvalidArgument,
                             "Failed to encode the prompt: tokenizer error %d",
                             static_cast<int>(static_cast<uint32_t>(found.error())));
    tokens.insert(tokens.end(), found->begin(), found->end());
    is_first_text = false;
  }
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument,
                           "Expected a token at least in the prompt, got none");
  return tokens;
}

Result<uint64_t> TextLLMRunner::feed(std::vector<uint64_t> tokens, float temperature) {
  pending_.reset();
  if (Sampler* sampler = text_decoder_runner_->sampler()) {
    std::for_each(tokens.begin(), tokens.end(), [&](uint64_t token) { sampler->accept(token); });
  }
  const bool use_kv_cache = constant_of(metadata_, kUseKVCache, 1) != 0;
  const int64_t before = context_.size();
  auto position = use_kv_cache ? before : 0;
  std::vector<uint64_t> fed = tokens;
  if (!use_kv_cache) {
    fed.insert(fed.begin(), context_.ids().begin(), context_.ids().end());
  }
  const auto next = text_prefiller_->prefill(fed, position, temperature);
  context_.append(tokens);
  if (!next.ok()) {
    context_.resize(std::max(before, position));
    return next.error();
  }
  if (Sampler* sampler = text_decoder_runner_->sampler()) {
    sampler->accept(*next);
  }
  return *next;
}

Result<uint64_t> TextLLMRunner::prefill(const std::vector<MultimodalInput>& inputs, int32_t num_bos,
                                        int32_t num_eos) {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  auto tokens = ET_UNWRAP(encode(inputs, num_bos, num_eos));
  ET_CHECK_OK_OR_RETURN_ERROR(context_.check_room(tokens.size()));
  const uint64_t next = ET_UNWRAP(feed(std::move(tokens), 0.0f));
  pending_ = Pending{next, false};
  return next;
}

Result<uint64_t> TextLLMRunner::prefill(const std::string& prompt, int32_t num_bos,
                                        int32_t num_eos) {
  return prefill({make_text_input(prompt)}, num_bos, num_eos);
}

Error TextLLMRunner::warmup(const std::string& prompt, int32_t max_new_tokens) {
  GenerationConfig config;
  config.echo = false;
  config.max_new_tokens = max_new_tokens;
  config.warming = true;
  const Error error = generate(prompt, config);
  reset();
  return error;
}

Error TextLLMRunner::generate(const std::string& prompt, const GenerationConfig& config,
                              std::function<void(const std::string&)> token_callback,
                              std::function<void(const Stats&)> stats_callback) {
  if (prompt.empty()) {
    return run(nullptr, {}, config, token_callback, stats_callback);
  }
  return run(&prompt, {make_text_input(prompt)}, config, token_callback, stats_callback);
}

Error TextLLMRunner::generate(const std::vector<MultimodalInput>& inputs,
                              const GenerationConfig& config,
                              std::function<void(const std::string&)> token_callback,
                              std::function<void(const Stats&)> stats_callback) {
  const std::string* text = inputs.empty() ? nullptr : inputs.back().try_get_text();
  return run(text, inputs, config, token_callback, stats_callback);
}

Error TextLLMRunner::generate_from_pos(const std::string& prompt, int64_t start_pos,
                                       const GenerationConfig& config,
                                       std::function<void(const std::string&)> token_callback,
                                       std::function<void(const Stats&)> stats_callback) {
  ET_CHECK_OK_OR_RETURN_ERROR(rewind(start_pos));
  return generate(prompt, config, std::move(token_callback), std::move(stats_callback));
}

Error TextLLMRunner::begin(GenerationConfig* wanted) {
  GenerationConfig& config = *wanted;
  if (temperature_ != -1.0f) {
    config.temperature = temperature_;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(config.temperature));
  ET_CHECK_OR_RETURN_ERROR(config.repetition_penalty > 0, InvalidArgument,
                           "Expected a repetition penalty above 0, got %f",
                           static_cast<double>(config.repetition_penalty));
  ET_CHECK_OR_RETURN_ERROR(
      std::isfinite(config.frequency_penalty) && std::isfinite(config.presence_penalty),
      InvalidArgument, "Expected finite frequency and presence penalties, got %f and %f",
      static_cast<double>(config.frequency_penalty), static_cast<double>(config.presence_penalty));
  should_stop_.store(false);
  finish_reason_ = FinishReason::None;
  stats_->reset();
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  config = with_defaults(config, default_sampling_);
  begin_answer(config, *text_decoder_runner_, *text_token_generator_);
  ET_CHECK_OK_OR_RETURN_ERROR(begin_prompt_lookup(config));
  return grammar_.begin(config, *tokenizer_, text_token_generator_->eos_ids(),
                        text_decoder_runner_->sampler());
}

Error TextLLMRunner::begin_prompt_lookup(const GenerationConfig& config) {
  ET_CHECK_OR_RETURN_ERROR(
      config.prompt_lookup == 0 || (config.prompt_lookup > 0 && context_.keeps_all_positions() &&
                                    text_decoder_runner_->has_all_logits()),
      NotSupported,
      "prompt_lookup needs a program that keeps all positions and gives the logits of all tokens: "
      "export it with debug.generate_full_logits");
  text_token_generator_->set_prompt_lookup(config.prompt_lookup, text_prefiller_->max_seq_len(),
                                           context_.length());
  return Error::Ok;
}

Error TextLLMRunner::run(const std::string* text, const std::vector<MultimodalInput>& inputs,
                         const GenerationConfig& wanted, const Show& token_callback,
                         const std::function<void(const Stats&)>& stats_callback) {
  GenerationConfig config = wanted;
  ET_CHECK_OK_OR_RETURN_ERROR(begin(&config));
  const Show show = make_show(config, token_callback, should_stop_, *text_token_generator_);
  const Error error = make_answer(text, inputs, config, show);
  const Error of_grammar = grammar_.end(text_decoder_runner_->sampler());
  ET_CHECK_OK_OR_RETURN_ERROR(error);
  ET_CHECK_OK_OR_RETURN_ERROR(of_grammar);
  report(config, *stats_, stats_callback);
  return Error::Ok;
}

Error TextLLMRunner::make_answer(const std::string* text,
                                 const std::vector<MultimodalInput>& inputs,
                                 const GenerationConfig& config, const Show& show) {
  stats_->inference_start_ms = time_in_ms();
  ET_CHECK_OR_RETURN_ERROR(!inputs.empty() || config.grammar.empty(), InvalidArgument,
                           "An answer with a grammar begins with a prompt, got none");
  if (!inputs.empty()) {
    auto tokens = ET_UNWRAP(encode(inputs, config.num_bos, config.num_eos));
    ET_CHECK_OK_OR_RETURN_ERROR(context_.check_room(tokens.size()));
    stats_->num_prompt_tokens = static_cast<int64_t>(tokens.size());
    if (config.echo && text != nullptr) {
      show(*text);
    }
    const uint64_t next = ET_UNWRAP(feed(std::move(tokens), config.temperature));
    pending_ = Pending{next, false};
  }
  ET_CHECK_OR_RETURN_ERROR(pending_.has_value(), InvalidState,
                           "An empty prompt has nothing to go on from: give a prompt, or call "
                           "prefill() first");
  ET_CHECK_OK_OR_RETURN_ERROR(answer(config, show));
  if (inputs.empty()) {
    stats_->num_prompt_tokens = context_.size();
  }
  return Error::Ok;
}

// Shows the token that waits, then makes up to `count` more; how many. What was fed belongs to the
// context; the last token waits again.
Result<int64_t> TextLLMRunner::decode(int32_t count, const GenerationConfig& config,
                                      const Show& show) {
  const Pending from = *pending_;
  if (!from.is_shown) {
    const std::string piece = ET_UNWRAP(text_of(*tokenizer_, from.token));
    pending_->is_shown = true;
    const bool is_end = !config.ignore_eos && text_token_generator_->is_eos(from.token);
    if (!is_end || !config.hide_eos) {
      show(piece);
    }
    if (is_end) {
      finish_reason_ = FinishReason::EndOfText;
      return 0;
    }
  }
  print_memory_status("prompt prefill", config);
  if (should_stop_.load()) {
    return 0;
  }
  std::vector<uint64_t> tokens = context_.ids();
  tokens.push_back(from.token);
  const auto done = text_token_generator_->generate(std::move(tokens), context_.size(), count,
                                                    config.temperature, show);
  const auto& made = text_token_generator_->made_tokens();
  if (!made.empty()) {
    context_.append(from.token);
    context_.append({made.begin(), made.end() - 1});
    pending_ = Pending{made.back(), true};
  }
  if (text_token_generator_->is_at_eos()) {
    finish_reason_ = FinishReason::EndOfText;
  } else if (!done.ok()) {
    // Caches that do not keep all positions have no bound that is known beforehand.
    ET_CHECK_OK_OR_RETURN_ERROR(context_.size() >= context_.length() ? Error::Ok : done.error());
    finish_reason_ = FinishReason::ContextFull;
  }
  return static_cast<int64_t>(made.size());
}

void TextLLMRunner::say_end(const GenerationConfig& config, int32_t wanted) const {
  end_answer(config);
  if (config.silent) {
    return;
  }
  if (finish_reason_ == FinishReason::ContextFull) {
    print_status("The context of %" PRId64 " tokens is full: reset() begins another",
                 context_.length());
  } else if (finish_reason_ == FinishReason::Length && !config.warming) {
    print_status("Max new tokens %i reached!", static_cast<int>(wanted));
  }
}

Error TextLLMRunner::answer(const GenerationConfig& config, const Show& show) {
  const int64_t most = context_.length();
  const int64_t taken = context_.occupied();
  const int32_t wanted = config.resolve_max_new_tokens(most, taken);
  ET_LOG(Info,
         "Max new tokens resolved: %d, given pos_ %" PRId64 ", num_prompt_tokens %" PRId64
         ", max_context_len %" PRId64,
         static_cast<int>(wanted), taken, stats_->num_prompt_tokens, most);
  ET_CHECK_OR_RETURN_ERROR(wanted > 0, InvalidArgument,
                           "No token may be generated: expected room in the context of %" PRId64
                           " tokens, seq_len and max_new_tokens, found %" PRId64 " occupied",
                           most, taken);
  stats_->first_token_ms = stats_->prompt_eval_end_ms = time_in_ms();
  const int32_t count = pending_->is_shown ? wanted : wanted - 1;
  const int64_t made = ET_UNWRAP(decode(count, config, show));
  if (finish_reason_ == FinishReason::EndOfText) {
    pending_.reset();
  } else if (finish_reason_ == FinishReason::None) {
    const bool fills_context = wanted == most - taken && config.max_new_tokens != wanted;
    finish_reason_ = made < count    ? FinishReason::Stopped
                     : fills_context ? FinishReason::ContextFull
                                     : FinishReason::Length;
  }
  stats_->inference_end_ms = time_in_ms();
  stats_->num_generated_tokens = made;
  say_end(config, wanted);
  return Error::Ok;
}

}  // namespace executorch::extension::llm
