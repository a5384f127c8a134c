// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/context_runner.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <utility>

#include <executorch/extension/llm/runner/print_status.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

ContextRunner::ContextRunner(std::unordered_map<std::string, int64_t> metadata,
                             std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                             std::unique_ptr<Module> module,
                             std::unique_ptr<TextDecoderRunner> text_decoder_runner,
                             std::unique_ptr<IOManager> io_manager,
                             std::unique_ptr<TextTokenGenerator> text_token_generator,
                             std::unique_ptr<Stats> stats)
    : metadata_(std::move(metadata)),
      tokenizer_(std::move(tokenizer)),
      module_(std::move(module)),
      text_decoder_runner_(std::move(text_decoder_runner)),
      io_manager_(std::move(io_manager)),
      text_token_generator_(std::move(text_token_generator)),
      stats_(std::move(stats)),
      context_(metadata_) {}

Error ContextRunner::load() {
  if (!is_loaded()) {
    stats_->model_load_start_ms = time_in_ms();
    ET_CHECK_OK_OR_RETURN_ERROR(load_methods());
    ET_CHECK_OK_OR_RETURN_ERROR(io_manager_->load());
    default_sampling_ = sampling_of_program(*module_);
    stats_->model_load_end_ms = time_in_ms();
  }
  is_ready_.store(true);
  return Error::Ok;
}

void ContextRunner::stop() {
  if (!is_ready_.load()) {
    ET_LOG(Error, "stop() of a runner that is not loaded has no effect");
    return;
  }
  should_stop_.store(true);
  text_token_generator_->stop();
}

void ContextRunner::reset() {
  stats_->reset();
  context_.clear();
  pending_.reset();
  if (sampler() != nullptr) {
    sampler()->forget_accepted();
  }
  if (io_manager_->reset() != Error::Ok) {
    ET_LOG(Error, "The IOManager failed to reset: the next context may see this one's");
  }
}

std::vector<TokenLogprobs> ContextRunner::logprobs() const {
  return sampler() != nullptr ? sampler()->logprobs() : std::vector<TokenLogprobs>();
}

Error ContextRunner::begin(GenerationConfig* wanted) {
  GenerationConfig& config = *wanted;
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(config.temperature));
  ET_CHECK_OR_RETURN_ERROR(config.repetition_penalty > 0, InvalidArgument,
                           "Expected a repetition penalty above 0, got %f",
                           static_cast<double>(config.repetition_penalty));
  ET_CHECK_OR_RETURN_ERROR(
      std::isfinite(float{config.frequency_penalty}) &&
          std::isfinite(float{config.presence_penalty}),
      InvalidArgument, "Expected finite frequency and presence penalties, got %f and %f",
      static_cast<double>(config.frequency_penalty), static_cast<double>(config.presence_penalty));
  should_stop_.store(false);
  finish_reason_ = FinishReason::None;
  stats_->reset();
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  config = with_defaults(config, default_sampling_);
  if (config.warming && !config.silent) {
    print_status("Doing a warmup run...");
  }
  print_memory_status("loading model", config);
  text_decoder_runner_->set_sampling(config);
  if (sampler() != nullptr) {
    sampler()->note_logprobs(config.top_logprobs);
  }
  text_token_generator_->set_ignore_eos(config.ignore_eos);
  text_token_generator_->set_hide_eos(config.hide_eos);
  ET_CHECK_OK_OR_RETURN_ERROR(begin_prompt_lookup(config));
  return grammar_.begin(config, *tokenizer_, text_token_generator_->eos_ids(), sampler());
}

Error ContextRunner::run(
    const GenerationConfig& wanted, const TokenCallback& token_callback,
    const StatsCallback& stats_callback,
    const std::function<Error(const GenerationConfig& config, const TokenCallback& show)>& prompt) {
  GenerationConfig config = wanted;
  ET_CHECK_OK_OR_RETURN_ERROR(begin(&config));
  const bool prints = !config.warming && !config.silent;
  const TokenCallback show = [&](const std::string& piece) {
    if (prints) {
      safe_printf(piece.c_str());
      std::fflush(stdout);
    }
    if (token_callback) {
      token_callback(piece);
    }
    if (should_stop_.load()) {  // one that came before the generator began is not lost
      text_token_generator_->stop();
    }
  };
  stats_->inference_start_ms = time_in_ms();
  Error error = prompt(config, show);
  if (error == Error::Ok) {
    error = answer(config, show);
  }
  const Error of_grammar = grammar_.end(sampler());
  ET_CHECK_OK_OR_RETURN_ERROR(error);
  ET_CHECK_OK_OR_RETURN_ERROR(of_grammar);
  if (prints) {
    print_report(*stats_);
  } else if (!config.silent) {
    print_status("Warmup run finished!");
  }
  if (stats_callback) {
    stats_callback(*stats_);
  }
  return Error::Ok;
}

Error ContextRunner::answer(const GenerationConfig& config, const TokenCallback& show) {
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

// Shows the token that waits, then makes up to `count` more; how many. What was fed belongs to the
// context; the last token waits again.
Result<int64_t> ContextRunner::decode(int32_t count, const GenerationConfig& config,
                                      const TokenCallback& show) {
  const Pending from = *pending_;
  if (!from.is_shown) {
    const std::string piece = ET_UNWRAP(text_of(*tokenizer_, from.token, from.token));
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

void ContextRunner::say_end(const GenerationConfig& config, int32_t wanted) const {
  if (!config.warming && !config.silent) {
    std::printf("\n");
  }
  print_memory_status("finishing text generation", config);
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

}  // namespace executorch::extension::llm
