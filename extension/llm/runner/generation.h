// SPDX-License-Identifier: BSD-3-Clause
// What the runners of text and of several kinds of input do alike around an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include <executorch/extension/llm/grammar/token_grammar.h>
#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/llm/runner/text_token_generator.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <pytorch/tokenizers/tokenizer.h>

namespace executorch::extension::llm {

using Show = std::function<void(const std::string&)>;

// InvalidArgument unless it is from 0 to kMaxTemperature.
runtime::Error check_temperature(float temperature);

// Of a loaded model: the lines before an answer, and what the configuration asks of its makers.
void begin_answer(const GenerationConfig& config, TextDecoderRunner& decoder,
                  TextTokenGenerator& generator);

// The grammar of an answer, in the sampler from begin() to end(). What was computed stays for the
// next answer of the same grammar.
class AnswerGrammar {
 public:
  // Errors of parse_grammar() and TokenGrammar; NotSupported for a decoder without a sampler and
  // for an answer that goes on after its end.
  runtime::Error begin(const GenerationConfig& config, const ::tokenizers::Tokenizer& tokenizer,
                       const std::unordered_set<uint64_t>& eos_ids, Sampler* sampler);

  // TokenGrammar::error() of the answer.
  runtime::Error end(Sampler* sampler);

 private:
  std::string text_;
  std::string type_;
  std::shared_ptr<const TokenTree> tree_;
  std::unique_ptr<TokenGrammar> grammar_;
};

// Prints each piece, unless the configuration is silent, and gives it to `callback`. It stops the
// generator once `should_stop` is set: a stop() that came before the generator began is not lost.
// Borrows all but the callback.
Show make_show(const GenerationConfig& config, Show callback, const std::atomic<bool>& should_stop,
               TextTokenGenerator& generator);

// InvalidArgument where the tokenizer has none.
runtime::Result<std::string> text_of(const ::tokenizers::Tokenizer& tokenizer, uint64_t token);

// The lines behind the answer's last piece.
void end_answer(const GenerationConfig& config);

// The last lines of a run, and the callback.
void report(const GenerationConfig& config, const Stats& stats,
            const std::function<void(const Stats&)>& stats_callback);

}  // namespace executorch::extension::llm
