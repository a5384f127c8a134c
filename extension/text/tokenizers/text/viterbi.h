// SPDX-License-Identifier: BSD-3-Clause
// The cut of a text into pieces of a vocabulary whose scores have the greatest sum.
#pragma once

#include <executorch/extension/text/tokenizers/text/prefix_trie.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// A piece of the best cut; kNone: a character that no piece is.
struct CutPiece {
  uint32_t id;
  std::string_view text;
};

/// `Score`: the type in which the reference adds, so that ties fall as there. `score_of(id, bytes)`
/// is of a piece, `unknown` of a character that is no piece by itself. The text is UTF-8.
template <typename Score, typename ScoreOf>
std::vector<CutPiece> best_cut(std::string_view text, const PrefixTrie& pieces, Score unknown,
                               const ScoreOf& score_of) {
  struct End {
    Score score;
    uint32_t id;
    uint32_t start;  // kNone: no cut ends here
  };
  std::vector<End> ends(text.size() + 1, End{0, kNone, kNone});
  for (size_t start = 0; start < text.size();) {
    const size_t character = utf8_length(text[start]);
    const Score here = ends[start].score;
    bool is_piece = false;
    const auto offer = [&](End& end, Score score, uint32_t id) {
      const Score sum = score + here;
      if (end.start == kNone || sum > end.score) {
        end = {sum, id, static_cast<uint32_t>(start)};
      }
    };
    pieces.each_prefix(text.substr(start), [&](uint32_t id, size_t length) {
      offer(ends[start + length], score_of(id, length), id);
      is_piece = is_piece || length == character;
    });
    if (!is_piece) {
      offer(ends[start + character], unknown, kNone);
    }
    start += character;
  }
  std::vector<CutPiece> cut;
  cut.reserve(text.size() / 3);
  for (size_t end = text.size(); end > 0; end = ends[end].start) {
    cut.push_back({ends[end].id, text.substr(ends[end].start, end - ends[end].start)});
  }
  std::reverse(cut.begin(), cut.end());
  return cut;
}

}  // namespace tokenizers::detail
