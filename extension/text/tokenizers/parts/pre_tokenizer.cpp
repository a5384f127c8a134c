// SPDX-License-Identifier: BSD-3-Clause
// One small class for each kind of pre-tokenizer, and the table of their names.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/pre_tokenizer.h>
#include <executorch/extension/text/tokenizers/parts/search.h>
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/replace.h>
#include <executorch/extension/text/tokenizers/text/unicode.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <algorithm>
#include <utility>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;
using Span = PieceList::Span;

// GPT-2's.
constexpr const char kByteLevelPattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

// \w+|[^\w\s]+ where joiners are of words.
constexpr const char kWhitespacePattern[] = "[\\w\\x{200C}\\x{200D}]+|[^\\w\\s\\x{200C}\\x{200D}]+";

/// What becomes of the parts that match, beside those between them.
enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

Behavior behavior_of(const std::string& name) {
  constexpr std::pair<const char*, Behavior> kNames[] = {
      {"Removed", Behavior::kRemoved},
      {"Isolated", Behavior::kIsolated},
      {"MergedWithPrevious", Behavior::kMergedWithPrevious},
      {"MergedWithNext", Behavior::kMergedWithNext},
      {"Contiguous", Behavior::kContiguous},
  };
  for (const auto& [known, behavior] : kNames) {
    if (name == known) {
      return behavior;
    }
  }
  throw BadPart("a split of unknown behavior \"" + name + "\"");
}

/// Cuts one piece at its matches, whose places count from the piece's start. With `invert` what
/// lies between is the match.
class Cutter {
 public:
  Cutter(Behavior behavior, bool invert, std::vector<Span>& out)
      : behavior_(behavior), invert_(invert), out_(out) {}

  void cut(Span piece, const std::vector<Match>& matches) {
    begin_ = out_.size();
    previous_ = false;
    held_ = {piece.start, piece.start};
    uint32_t done = piece.start;
    for (const Match& match : matches) {
      const auto start = piece.start + static_cast<uint32_t>(match.start);
      const auto end = piece.start + static_cast<uint32_t>(match.end);
      between({done, start});
      part({start, end}, !invert_);
      done = end;
    }
    between({done, piece.end});
    if (behavior_ == Behavior::kMergedWithNext) {
      out_.push_back(held_);
    }
    const auto is_empty = [](Span span) { return span.start == span.end; };
    out_.erase(std::remove_if(out_.begin() + begin_, out_.end(), is_empty), out_.end());
  }

 private:
  void between(Span span) {
    if (span.start != span.end) {
      part(span, invert_);
    }
  }

  /// A match may be empty: it becomes no piece, but parts or joins what stands beside it.
  void part(Span span, bool is_match) {
    switch (behavior_) {
      case Behavior::kRemoved:
        if (!is_match) {
          out_.push_back(span);
        }
        break;
      case Behavior::kIsolated:
        out_.push_back(span);
        break;
      case Behavior::kContiguous:
      case Behavior::kMergedWithPrevious: {
        const bool joins =
            out_.size() > begin_ &&
            (behavior_ == Behavior::kContiguous ? is_match == previous_ : is_match && !previous_);
        if (joins) {
          out_.back().end = span.end;
        } else {
          out_.push_back(span);
        }
        previous_ = is_match;
        break;
      }
      case Behavior::kMergedWithNext:
        // A match waits for what follows it; of several in a row only the last is joined.
        if (is_match) {
          out_.push_back(held_);
          held_ = span;
        } else {
          out_.push_back({held_.start == held_.end ? span.start : held_.start, span.end});
          held_ = {span.end, span.end};
        }
        break;
    }
  }

  const Behavior behavior_;
  const bool invert_;
  std::vector<Span>& out_;
  size_t begin_ = 0;
  bool previous_ = false;
  Span held_{0, 0};
};

/// A pre-tokenizer that leaves the text as it is and cuts it where `find(piece, matches)` says.
template <typename Find>
class Cut : public PreTokenizer {
 public:
  Cut(Find find, Behavior behavior, bool invert = false)
      : find_(std::move(find)), behavior_(behavior), invert_(invert) {}

  void apply(PieceList& list) const override {
    list.other_pieces.clear();
    Cutter cutter(behavior_, invert_, list.other_pieces);
    for (size_t i = 0; i < list.pieces.size(); ++i) {
      list.matches.clear();
      find_(list.piece(i), list.matches);
      cutter.cut(list.pieces[i], list.matches);
    }
    list.pieces.swap(list.other_pieces);
  }

 private:
  Find find_;
  Behavior behavior_;
  bool invert_;
};

template <typename Find>
PreTokenizer::Ptr make_cut(Find find, Behavior behavior, bool invert = false) {
  return std::make_unique<Cut<Find>>(std::move(find), behavior, invert);
}

/// Matches each character for which `is(code)` holds.
template <typename Is>
auto each_character(Is is) {
  return [is](std::string_view text, std::vector<Match>& out) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = at + utf8_length(text[at]);
      if (is(code_point(text, at))) {
        out.push_back({at, end});
      }
      at = end;
    }
  };
}

auto each_match(const Pattern& pattern) {
  return [search = Search(pattern)](std::string_view text, std::vector<Match>& out) {
    search.find_all(text, out);
  };
}

/// Steps one after the other.
class Sequence : public PreTokenizer {
 public:
  explicit Sequence(std::vector<Ptr> steps) : steps_(std::move(steps)) {}
  void apply(PieceList& list) const override {
    for (const Ptr& step : steps_) {
      step->apply(list);
    }
  }
  // Only as the last step: what follows would see bytes where it expects characters.
  bool spells_bytes() const override {
    for (size_t i = 0; i + 1 < steps_.size(); ++i) {
      if (steps_[i]->spells_bytes()) {
        return false;
      }
    }
    return !steps_.empty() && steps_.back()->spells_bytes();
  }
  void leave_bytes() override { steps_.back()->leave_bytes(); }

 private:
  std::vector<Ptr> steps_;
};

/// Writes every piece anew: `write(piece, index of its start is 0, out)`.
template <typename Write>
void rewrite(PieceList& list, const Write& write) {
  list.other_text.clear();
  list.other_pieces.clear();
  for (size_t i = 0; i < list.pieces.size(); ++i) {
    const auto start = static_cast<uint32_t>(list.other_text.size());
    write(list.piece(i), list.pieces[i].start == 0 && list.is_beginning, list.other_text);
    list.other_pieces.push_back({start, static_cast<uint32_t>(list.other_text.size())});
  }
  list.text.swap(list.other_text);
  list.pieces.swap(list.other_pieces);
}

class ByteLevel : public PreTokenizer {
 public:
  explicit ByteLevel(const Json& part) : adds_prefix_(field<bool>(part, "add_prefix_space")) {
    if (field_or(part, "use_regex", true)) {
      split_ = make_cut(each_match({kByteLevelPattern, true}), Behavior::kIsolated);
    }
  }
  void apply(PieceList& list) const override {
    if (adds_prefix_) {
      rewrite(list, [](std::string_view piece, bool, std::string& out) {
        out.append(piece.front() == ' ' ? "" : " ").append(piece);
      });
    }
    if (split_ != nullptr) {
      split_->apply(list);
    }
    if (spells_) {
      rewrite(list, [](std::string_view piece, bool, std::string& out) {
        out += to_byte_characters(piece);
      });
    }
  }
  bool spells_bytes() const override { return true; }
  void leave_bytes() override { spells_ = false; }

 private:
  bool adds_prefix_, spells_ = true;
  PreTokenizer::Ptr split_;
};

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(const Json& part) : replacement_(field<std::string>(part, "replacement")) {
    const auto scheme = field_or<std::string>(
        part, "prepend_scheme", field_or(part, "add_prefix_space", true) ? "always" : "never");
    if (scheme != "always" && scheme != "first" && scheme != "never") {
      throw BadPart("Metaspace with the unknown prepend_scheme \"" + scheme + "\"");
    }
    always_ = scheme == "always";
    first_ = scheme == "first";
    if (field_or(part, "split", true)) {
      split_ = make_cut(each_match({replacement_, false}), Behavior::kMergedWithNext);
    }
  }
  void apply(PieceList& list) const override {
    rewrite(list, [&](std::string_view piece, bool is_first, std::string& out) {
      const bool is_marked =
          piece.front() == ' ' || piece.substr(0, replacement_.size()) == replacement_;
      if (!is_marked && (always_ || (first_ && is_first))) {
        out += replacement_;
      }
      append_replaced(piece, " ", replacement_, out);
    });
    if (split_ != nullptr) {
      split_->apply(list);
    }
  }

 private:
  std::string replacement_;
  bool always_, first_;
  PreTokenizer::Ptr split_;
};

PreTokenizer::Ptr make_byte_level(const Json& part) {
  return std::make_unique<ByteLevel>(part);
}
PreTokenizer::Ptr make_metaspace(const Json& part) {
  return std::make_unique<Metaspace>(part);
}

PreTokenizer::Ptr make_sequence(const Json& part) {
  std::vector<PreTokenizer::Ptr> steps;
  for (const Json& step : field<Json>(part, "pretokenizers")) {
    steps.push_back(make_pre_tokenizer(step));
  }
  return std::make_unique<Sequence>(std::move(steps));
}

PreTokenizer::Ptr make_split(const Json& part) {
  return make_cut(each_match(pattern_of(part)), behavior_of(field<std::string>(part, "behavior")),
                  field<bool>(part, "invert"));
}

PreTokenizer::Ptr make_digits(const Json& part) {
  return make_cut(each_character(is_numeric), field_or(part, "individual_digits", false)
                                                  ? Behavior::kIsolated
                                                  : Behavior::kContiguous);
}

PreTokenizer::Ptr make_punctuation(const Json& part) {
  return make_cut(each_character(is_punctuation),
                  behavior_of(field_or<std::string>(part, "behavior", "Isolated")));
}

PreTokenizer::Ptr make_white_space_split(const Json&) {
  return make_cut(each_character(is_white_space), Behavior::kRemoved);
}

PreTokenizer::Ptr make_white_space(const Json&) {
  return make_cut(each_match({kWhitespacePattern, true}), Behavior::kRemoved, true);
}

PreTokenizer::Ptr make_bert(const Json& part) {
  std::vector<PreTokenizer::Ptr> steps;
  steps.push_back(make_white_space_split(part));
  steps.push_back(make_cut(each_character(is_punctuation), Behavior::kIsolated));
  return std::make_unique<Sequence>(std::move(steps));
}

PreTokenizer::Ptr make_delimiter(const Json& part) {
  return make_cut(each_match({field<std::string>(part, "delimiter"), false}), Behavior::kRemoved);
}

constexpr Kind<PreTokenizer::Ptr> kKinds[] = {
    {"BertPreTokenizer", make_bert},
    {"ByteLevel", make_byte_level},
    {"CharDelimiterSplit", make_delimiter},
    {"Digits", make_digits},
    {"Metaspace", make_metaspace},
    {"Punctuation", make_punctuation},
    {"Sequence", make_sequence},
    {"Split", make_split},
    {"Whitespace", make_white_space},
    {"WhitespaceSplit", make_white_space_split},
};

}  // namespace

PreTokenizer::Ptr make_pre_tokenizer(const Json& part) {
  return part.is_null() ? nullptr : make_part(kKinds, part, "pre_tokenizer");
}

}  // namespace tokenizers::detail
