// SPDX-License-Identifier: BSD-3-Clause
// Lists of special tokens are short and most share a first byte: a search for that byte, then a
// walk.
#include <executorch/extension/text/tokenizers/text/literal_trie.h>

namespace tokenizers::detail {

uint32_t LiteralTrie::child(uint32_t node, char c) const {
  if (node == 0) {
    return first_[static_cast<uint8_t>(c)];
  }
  for (const auto& [byte, next] : nodes_[node].next) {
    if (byte == c) {
      return next;
    }
  }
  return 0;
}

void LiteralTrie::add(std::string_view text, uint32_t value) {
  uint32_t node = 0;
  for (const char c : text) {
    uint32_t next = child(node, c);
    if (next == 0) {
      next = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
      if (node == 0) {
        first_[static_cast<uint8_t>(c)] = next;
      } else {
        nodes_[node].next.emplace_back(c, next);
      }
    }
    node = next;
  }
  if (node != 0) {
    nodes_[node].value = value;
  }
}

std::optional<LiteralTrie::Found> LiteralTrie::longest(std::string_view text, size_t at) const {
  std::optional<Found> found;
  uint32_t node = 0;
  for (size_t end = at; end < text.size();) {
    node = child(node, text[end]);
    if (node == 0) {
      break;
    }
    ++end;
    if (nodes_[node].value != kNoValue) {
      found = Found{{at, end}, nodes_[node].value};
    }
  }
  return found;
}

std::optional<LiteralTrie::Found> LiteralTrie::find(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size(); ++at) {
    if (first_[static_cast<uint8_t>(text[at])] == 0) {
      continue;
    }
    if (const auto found = longest(text, at)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace tokenizers::detail
