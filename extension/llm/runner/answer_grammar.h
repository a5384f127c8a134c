// SPDX-License-Identifier: BSD-3-Clause
// AnswerGrammar: what a configuration says of an answer's form, in the sampler while it is made.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/text/grammar/token_grammar.h>
#include <executorch/extension/text/sampler/sampler.h>
#include <executorch/runtime/core/error.h>
#include <pytorch/tokenizers/tokenizer.h>

namespace executorch::extension::llm {

// In the sampler from begin() to end(). What was computed stays for the next answer of the same
// grammar.
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

}  // namespace executorch::extension::llm
