// SPDX-License-Identifier: BSD-3-Clause
// The reference's rules: leftmost, then longest; white space and word boundaries as each token
// asks.
#include <executorch/extension/text/tokenizers/parts/added_tokens.h>
#include <executorch/extension/text/tokenizers/text/unicode.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <algorithm>

namespace tokenizers::detail {

namespace {

bool is_inside_word(std::string_view text, const Match& match) {
  if (match.start > 0 && is_word(code_point(text, previous_character(text, match.start)))) {
    return true;
  }
  return match.end < text.size() && is_word(code_point(text, match.end));
}

}  // namespace

void AddedTokens::add(AddedToken token, const Normalizer* normalizer) {
  const auto index = static_cast<uint32_t>(tokens_.size());
  by_id_[token.id] = index;
  by_content_[token.content] = index;
  if (token.is_normalized) {
    in_normalized_.add(normalizer != nullptr ? normalizer->normalize(token.content) : token.content,
                       index);
  } else {
    in_text_.add(token.content, index);
  }
  tokens_.push_back(std::move(token));
}

void AddedTokens::split(std::string_view text, bool normalized, std::vector<Part>& out) const {
  const LiteralTrie& trie = normalized ? in_normalized_ : in_text_;
  size_t done = 0;
  size_t from = 0;
  while (!trie.is_empty()) {
    const auto found = trie.find(text, from);
    if (!found) {
      break;
    }
    const AddedToken& token = tokens_[found->value];
    Match match = found->match;
    from = match.end;
    if (token.is_single_word && is_inside_word(text, match)) {
      continue;
    }
    if (token.strips_left) {
      match.start -= std::min(trailing_space(text.substr(0, match.start)), match.start - done);
    }
    if (token.strips_right) {
      match.end += leading_space(text.substr(match.end));
    }
    if (match.start > done) {
      out.push_back({text.substr(done, match.start - done), kNoToken});
    }
    out.push_back({text.substr(match.start, match.end - match.start), token.id});
    done = from = match.end;
  }
  if (done < text.size()) {
    out.push_back({text.substr(done), kNoToken});
  }
}

const AddedToken* AddedTokens::of_id(uint64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::of_content(const std::string& content) const {
  const auto found = by_content_.find(content);
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace tokenizers::detail
