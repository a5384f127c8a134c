// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/answer_grammar.h>

#include <utility>

namespace executorch::extension::llm {

using runtime::Error;

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

}  // namespace executorch::extension::llm
