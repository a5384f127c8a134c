// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/generation.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include <executorch/extension/llm/runner/print_status.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

Error check_temperature(float temperature) {
  ET_CHECK_OR_RETURN_ERROR(temperature >= 0 && temperature <= kMaxTemperature, InvalidArgument,
                           "Expected a temperature from 0 to %d, got %f",
                           static_cast<int>(kMaxTemperature), static_cast<double>(temperature));
  return Error::Ok;
}

void begin_answer(const GenerationConfig& config, TextDecoderRunner& decoder,
                  TextTokenGenerator& generator) {
  if (config.warming && !config.silent) {
    print_status("Doing a warmup run...");
  }
  print_memory_status("loading model", config);
  decoder.set_sampling(config);
  if (decoder.sampler() != nullptr) {
    decoder.sampler()->note_logprobs(config.top_logprobs);
  }
  generator.set_ignore_eos(config.ignore_eos);
  generator.set_hide_eos(config.hide_eos);
}

Error AnswerGrammar::begin(const GenerationConfig& config, const ::tokenizers::Tokenizer& tokenizer,
                           const std::unordered_set<uint64_t>& eos_ids, Sampler* sampler) {
  if (sampler != nullptr) {
    sampler->set_filter(nullptr);
  }
  if (config.grammar.empty()) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(sampler != nullptr && !config.ignore_eos, NotSupported,
                           "A grammar needs a decoder with a sampler, and ignore_eos off");
  if (config.grammar != text_ || config.grammar_type != type_ || grammar_ == nullptr) {
    grammar_.reset();
    auto grammar = ET_UNWRAP(parse_grammar(config.grammar, config.grammar_type));
    if (tree_ == nullptr) {
      tree_ = std::make_shared<const TokenTree>(tokenizer);
    }
    grammar_ = ET_UNWRAP(TokenGrammar::make(std::move(grammar), tree_, eos_ids));
    text_ = config.grammar;
    type_ = config.grammar_type;
  }
  grammar_->restart();
  sampler->set_filter(grammar_.get());
  return Error::Ok;
}

Error AnswerGrammar::end(Sampler* sampler) {
  if (sampler == nullptr || sampler->filter() == nullptr) {
    return Error::Ok;
  }
  sampler->set_filter(nullptr);
  return grammar_->error();
}

Show make_show(const GenerationConfig& config, Show callback, const std::atomic<bool>& should_stop,
               TextTokenGenerator& generator) {
  return [&config, callback = std::move(callback), &should_stop,
          &generator](const std::string& piece) {
    if (!config.warming && !config.silent) {
      safe_printf(piece.c_str());
      std::fflush(stdout);
    }
    if (callback) {
      callback(piece);
    }
    if (should_stop.load()) {
      generator.stop();
    }
  };
}

Result<std::string> text_of(const ::tokenizers::Tokenizer& tokenizer, uint64_t token) {
  auto piece = tokenizer.decode(token, token);
  ET_CHECK_OR_RETURN_ERROR(
      piece.ok(), InvalidArgument,
      "The tokenizer has no text for token %" PRIu64 ": it does not fit the model", token);
  return std::move(*piece);
}

void end_answer(const GenerationConfig& config) {
  if (!config.warming && !config.silent) {
    std::printf("\n");
  }
  print_memory_status("finishing text generation", config);
}

void report(const GenerationConfig& config, const Stats& stats,
            const std::function<void(const Stats&)>& stats_callback) {
  if (config.warming && !config.silent) {
    print_status("Warmup run finished!");
  } else if (!config.silent) {
    print_report(stats);
  }
  if (stats_callback) {
    stats_callback(stats);
  }
}

}  // namespace executorch::extension::llm
