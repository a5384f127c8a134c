// SPDX-License-Identifier: BSD-3-Clause
// How a text is cut into the pieces that the model sees one by one.
#pragma once

#include <pytorch/tokenizers/regex.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// A text and the parts of it that are left, in order. Pieces are bytes [start, end), never empty.
struct PieceList {
  struct Span {
    uint32_t start, end;
  };
  std::string text;
  std::vector<Span> pieces;
  /// Whether the text is the beginning of what the user gave (some kinds treat that apart).
  bool is_beginning = true;

  std::string_view piece(size_t i) const {
    return std::string_view(text).substr(pieces[i].start, pieces[i].end - pieces[i].start);
  }

  // Memory that steps reuse.
  std::string other_text;
  std::vector<Span> other_pieces;
  std::vector<Match> matches;
};

/// Const: threads share it.
class PreTokenizer {
 public:
  typedef std::unique_ptr<PreTokenizer> Ptr;
  virtual ~PreTokenizer() = default;
  virtual void apply(PieceList& list) const = 0;
  /// Whether pieces come out in GPT-2's byte characters. After leave_bytes() they come out as
  /// bytes, which spares a model that knows its vocabulary as bytes the way there and back.
  virtual bool spells_bytes() const { return false; }
  virtual void leave_bytes() {}
};

/// The object under "pre_tokenizer"; null when there is none. Throws BadPart.
PreTokenizer::Ptr make_pre_tokenizer(const nlohmann::json& part);

}  // namespace tokenizers::detail
