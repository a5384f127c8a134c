// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/grammar/token_grammar.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
// Rows of allowed tokens that are kept: 12 MB of them for a vocabulary of 100,000.
constexpr size_t kMaxRows = 1000;

bool has(const std::vector<uint64_t>& bits, int32_t token) {
  return ((bits[static_cast<size_t>(token) / 64] >> (token % 64)) & 1) != 0;
}

}  // namespace

TokenTree::TokenTree(const ::tokenizers::Tokenizer& tokenizer) {
  texts_.resize(static_cast<size_t>(std::max(tokenizer.vocab_size(), 0)));
  for (size_t token = 0; token < texts_.size(); ++token) {
    const auto text = tokenizer.decode(token, token, true);
    if (text.ok()) {
      texts_[token] = *text;
    }
  }
  tokens_.resize(texts_.size());
  std::iota(tokens_.begin(), tokens_.end(), 0);
  const auto text_of = [&](int32_t token) -> const std::string& {
    return texts_[static_cast<size_t>(token)];
  };
  tokens_.erase(std::remove_if(tokens_.begin(), tokens_.end(),
                               [&](int32_t token) { return text_of(token).empty(); }),
                tokens_.end());
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [&](int32_t a, int32_t b) { return text_of(a) < text_of(b); });
  std::vector<size_t> path;  // nodes from the first byte on
  const std::string* before = nullptr;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& text = text_of(tokens_[i]);
    size_t shared = 0;
    while (before != nullptr && shared < std::min(before->size(), text.size()) &&
           (*before)[shared] == text[shared]) {
      ++shared;
    }
    while (path.size() > shared) {
      nodes_[path.back()].after = static_cast<int32_t>(nodes_.size());
      path.pop_back();
    }
    for (size_t at = shared; at < text.size(); ++at) {
      path.push_back(nodes_.size());
      nodes_.push_back({static_cast<uint8_t>(text[at]), 0, static_cast<int32_t>(i),
                        static_cast<int32_t>(at) + 1});
    }
    before = &text;
  }
  for (const size_t node : path) {
    nodes_[node].after = static_cast<int32_t>(nodes_.size());
  }
  nodes_.push_back({0, 0, static_cast<int32_t>(tokens_.size()), 0});
}

TokenGrammar::TokenGrammar(Grammar grammar, std::shared_ptr<const TokenTree> tree,
                           std::unordered_set<uint64_t> eos)
    : automaton_(std::move(grammar)),
      tree_(std::move(tree)),
      eos_(std::move(eos)),
      state_(automaton_.start()) {}

Result<std::unique_ptr<TokenGrammar>> TokenGrammar::make(Grammar grammar,
                                                         std::shared_ptr<const TokenTree> tree,
                                                         std::unordered_set<uint64_t> eos) {
  ET_CHECK_OR_RETURN_ERROR(!eos.empty(), InvalidArgument,
                           "A grammar needs a token that ends the answer: the program's "
                           "get_eos_ids, or the tokenizer's");
  std::unique_ptr<TokenGrammar> made(
      new TokenGrammar(std::move(grammar), std::move(tree), std::move(eos)));
  ET_CHECK_OR_RETURN_ERROR(made->state_ != Automaton::kDead, InvalidArgument,
                           "The grammar takes no text: its root never ends");
  return made;
}

void TokenGrammar::restart() {
  state_ = automaton_.start();
  is_stuck_ = is_at_end_ = false;
}

// Nodes of the same text as the one before them have its tokens only; `tokens_begin` of a node is
// that of the first token at or below it.
std::vector<uint64_t> TokenGrammar::walk() {
  const auto& nodes = tree_->nodes();
  const auto& tokens = tree_->tokens();
  std::vector<uint64_t> bits(static_cast<size_t>(tree_->vocab_size()) / 64 + 1);
  std::vector<Automaton::State> path = {state_};
  for (size_t i = 0; i + 1 < nodes.size();) {
    const TokenTree::Node& node = nodes[i];
    path.resize(static_cast<size_t>(node.depth));
    const Automaton::State next = automaton_.next(path.back(), node.byte);
    if (next == Automaton::kDead) {
      i = static_cast<size_t>(node.after);
      continue;
    }
    path.push_back(next);
    for (int32_t at = node.tokens_begin;
         at < static_cast<int32_t>(tokens.size()) &&
         tree_->text(static_cast<uint64_t>(tokens[static_cast<size_t>(at)])).size() ==
             static_cast<size_t>(node.depth) &&
         at < nodes[static_cast<size_t>(node.after)].tokens_begin;
         ++at) {
      const auto token = static_cast<size_t>(tokens[static_cast<size_t>(at)]);
      bits[token / 64] |= uint64_t{1} << (token % 64);
    }
    ++i;
  }
  for (const uint64_t token : eos_) {
    if (token < static_cast<uint64_t>(tree_->vocab_size())) {
      bits[token / 64] &= ~(uint64_t{1} << (token % 64));
    }
  }
  return bits;
}

const std::vector<uint64_t>& TokenGrammar::allowed() {
  if (allowed_.size() > kMaxRows) {
    allowed_.clear();
  }
  const auto [found, is_new] = allowed_.try_emplace(state_);
  if (is_new) {
    found->second = walk();
  }
  return found->second;
}

void TokenGrammar::filter(float* logits, int32_t count) {
  const auto& bits = allowed();
  const bool may_end = is_at_end_ || can_end();
  const auto keep_eos_only = [&] {
    for (int32_t token = 0; token < count; ++token) {
      if (eos_.count(static_cast<uint64_t>(token)) == 0) {
        logits[token] = kForbidden;
      }
    }
  };
  const bool any = std::any_of(bits.begin(), bits.end(), [](uint64_t word) { return word != 0; });
  if (!may_end && !any) {
    is_stuck_ = true;
  }
  if (is_at_end_ || !any) {
    keep_eos_only();
    return;
  }
  const int32_t known = std::min(count, tree_->vocab_size());
  for (int32_t token = 0; token < count; ++token) {
    const bool is_allowed = (token < known && has(bits, token)) ||
                            (may_end && eos_.count(static_cast<uint64_t>(token)) > 0);
    if (!is_allowed) {
      logits[token] = kForbidden;
    }
  }
}

void TokenGrammar::accept(int32_t token) {
  if (eos_.count(static_cast<uint64_t>(token)) > 0) {
    is_at_end_ = true;
    return;
  }
  if (token < 0 || token >= tree_->vocab_size()) {
    state_ = Automaton::kDead;
    return;
  }
  for (const char byte : tree_->text(static_cast<uint64_t>(token))) {
    state_ = automaton_.next(state_, static_cast<uint8_t>(byte));
  }
}

Error TokenGrammar::error() const {
  ET_CHECK_OR_RETURN_ERROR(!automaton_.is_too_ambiguous(), NotSupported,
                           "The grammar has more than 65,536 readings of one text: write it with "
                           "fewer rules that begin alike");
  ET_CHECK_OR_RETURN_ERROR(!is_stuck_, InvalidState,
                           "No token of the vocabulary goes on with the grammar");
  return Error::Ok;
}

}  // namespace executorch::extension::llm
