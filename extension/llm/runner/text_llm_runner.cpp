// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_llm_runner.h>

#include <algorithm>
#include <utility>

#include <executorch/extension/llm/runner/constants.h>
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
    : ContextRunner(std::move(metadata), std::move(tokenizer), std::move(module),
                    std::move(text_decoder_runner), std::move(io_manager),
                    std::move(text_token_generator), std::move(stats)),
      text_prefiller_(std::move(text_prefiller)),
      temperature_(temperature) {}

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
  if (sampler() != nullptr) {
    sampler()->forget_accepted();
  }
  for (const uint64_t token : context_.ids()) {
    accept(token);
  }
  if (pending_.has_value()) {
    accept(pending_->token);
  }
}

Result<int64_t> TextLLMRunner::keep_shared_beginning(const std::vector<uint64_t>& tokens,
                                                     bool exact) {
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument, "Expected a token at least, got none");
  const int64_t shared = shared_beginning(tokens, exact);
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
    const auto found = ET_UNWRAP(ids_of(*tokenizer_, input.get_text(), is_first_text ? num_bos : 0,
                                        is_first_text ? num_eos : 0));
    tokens.insert(tokens.end(), found.begin(), found.end());
    is_first_text = false;
  }
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument,
                           "Expected a token at least in the prompt, got none");
  return tokens;
}

Result<uint64_t> TextLLMRunner::feed(const std::vector<uint64_t>& tokens, float temperature) {
  pending_.reset();
  for (const uint64_t token : tokens) {
    accept(token);
  }
  const bool use_kv_cache = constant_of(metadata_, kUseKVCache, 1) != 0;
  const int64_t before = context_.size();
  auto position = use_kv_cache ? before : 0;
  std::vector<uint64_t> fed = tokens;
  if (!use_kv_cache) {
    fed.insert(fed.begin(), context_.ids().begin(), context_.ids().end());
  }
  const auto next = text_prefiller_->prefill(fed, position, temperature);
  context_.append_prompt(tokens, text_prefiller_->max_seq_len());
  if (!next.ok()) {
    context_.resize(std::max(before, position));
    return next.error();
  }
  accept(*next);
  return *next;
}

Result<uint64_t> TextLLMRunner::prefill(const std::vector<MultimodalInput>& inputs, int32_t num_bos,
                                        int32_t num_eos) {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  const auto tokens = ET_UNWRAP(encode(inputs, num_bos, num_eos));
  ET_CHECK_OK_OR_RETURN_ERROR(context_.check_room(tokens.size()));
  const uint64_t next = ET_UNWRAP(feed(tokens, 0.0f));
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
                         GenerationConfig config, const TokenCallback& token_callback,
                         const StatsCallback& stats_callback) {
  if (temperature_ != -1.0f) {
    config.temperature = temperature_;
  }
  return ContextRunner::run(config, token_callback, stats_callback,
                            [&](const GenerationConfig& wanted, const TokenCallback& show) {
                              return put(text, inputs, wanted, show);
                            });
}

Error TextLLMRunner::put(const std::string* text, const std::vector<MultimodalInput>& inputs,
                         const GenerationConfig& config, const TokenCallback& show) {
  ET_CHECK_OR_RETURN_ERROR(!inputs.empty() || config.grammar.empty(), InvalidArgument,
                           "An answer with a grammar begins with a prompt, got none");
  if (!inputs.empty()) {
    const auto tokens = ET_UNWRAP(encode(inputs, config.num_bos, config.num_eos));
    ET_CHECK_OK_OR_RETURN_ERROR(context_.check_room(tokens.size()));
    stats_->num_prompt_tokens = static_cast<int64_t>(tokens.size());
    if (config.echo && text != nullptr) {
      show(*text);
    }
    const uint64_t next = ET_UNWRAP(feed(tokens, config.temperature));
    pending_ = Pending{next, false};
  } else {
    stats_->num_prompt_tokens = context_.size();
  }
  ET_CHECK_OR_RETURN_ERROR(pending_.has_value(), InvalidState,
                           "An empty prompt has nothing to go on from: give a prompt, or call "
                           "prefill() first");
  return Error::Ok;
}

}  // namespace executorch::extension::llm
