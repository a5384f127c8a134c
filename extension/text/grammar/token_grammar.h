// SPDX-License-Identifier: BSD-3-Clause
// TokenGrammar: which tokens can come next so that the answer's text is one of a grammar.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/text/grammar/automaton.h>
#include <executorch/extension/text/grammar/grammar.h>
#include <executorch/extension/text/sampler/token_filter.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// The texts of a tokenizer's tokens as a tree of bytes; special tokens and those without text are
// not in it. Constant after it is made; answers share it.
class TokenTree {
 public:
  explicit TokenTree(const ::tokenizers::Tokenizer& tokenizer);

  int32_t vocab_size() const { return static_cast<int32_t>(texts_.size()); }
  const std::string& text(uint64_t token) const { return texts_[token]; }

  // The tree depth first: a node follows its parent, and `after` is the first node that is not
  // below it. Tokens of the node: from `tokens_begin` up to the next node's.
  struct Node {
    uint8_t byte;
    int32_t after;
    int32_t tokens_begin;
    int32_t depth;  // 1: the first byte
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int32_t>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> texts_;
  std::vector<Node> nodes_;  // closed by one behind the last
  std::vector<int32_t> tokens_;
};

// One answer. Threads: one at a time.
class TokenGrammar : public TokenFilter {
 public:
  // eos: tokens that may follow where the grammar can end. InvalidArgument if it is empty, or the
  // grammar takes no text.
  static runtime::Result<std::unique_ptr<TokenGrammar>> make(Grammar grammar,
                                                             std::shared_ptr<const TokenTree> tree,
                                                             std::unordered_set<uint64_t> eos);

  // Another answer; what has been computed for the grammar stays.
  void restart();

  void filter(float* logits, int32_t count) override;
  void accept(int32_t token) override;

  // Whether the text so far is one of the grammar.
  bool can_end() const { return automaton_.can_end(state_); }

  // Ok; or why the answer is none of the grammar: InvalidState where no token of the vocabulary
  // goes on, NotSupported where the grammar has too many readings at once.
  runtime::Error error() const;

  // Bits of the tokens that can come next, those of `eos` left out.
  const std::vector<uint64_t>& allowed();

 private:
  TokenGrammar(Grammar grammar, std::shared_ptr<const TokenTree> tree,
               std::unordered_set<uint64_t> eos);
  std::vector<uint64_t> walk();

  Automaton automaton_;
  std::shared_ptr<const TokenTree> tree_;
  std::unordered_set<uint64_t> eos_;
  Automaton::State state_;
  bool is_stuck_ = false;
  bool is_at_end_ = false;
  std::unordered_map<Automaton::State, std::vector<uint64_t>> allowed_;
};

}  // namespace executorch::extension::llm
