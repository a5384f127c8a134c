// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/grammar/grammar.h>

#include <algorithm>
#include <cinttypes>
#include <map>
#include <unordered_map>
#include <utility>

#include <executorch/extension/text/grammar/utf8_ranges.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

namespace {

using Sequence = std::vector<Symbol>;
constexpr size_t kMaxSymbols = 1 << 20;
constexpr uint32_t kMaxRepetitions = 10000;
constexpr int kMaxParentheses = 200;

// Rules while they are read, by their names; what has none is a part of another.
class Rules {
 public:
  int32_t rule(const std::string& name) {
    const auto [found, is_new] = names_.try_emplace(name, static_cast<int32_t>(rules_.size()));
    if (is_new) {
      rules_.emplace_back();
    }
    return found->second;
  }
  Symbol add(std::vector<Sequence> alternatives) {
    for (const Sequence& sequence : alternatives) {
      num_symbols_ += sequence.size() + 1;
    }
    rules_.push_back(std::move(alternatives));
    return {Symbol::Kind::Rule, static_cast<int32_t>(rules_.size()) - 1};
  }
  Symbol bytes(const ByteSet& set) {
    const auto [found, is_new] =
        set_of_.try_emplace(set.to_string(), static_cast<int32_t>(sets_.size()));
    if (is_new) {
      sets_.push_back(set);
    }
    return {Symbol::Kind::Bytes, found->second};
  }
  Symbol characters(const std::vector<CharacterRange>& ranges) {
    std::vector<Sequence> alternatives;
    ByteSet single;
    for (const std::vector<ByteRange>& row : utf8_ranges(ranges)) {
      if (row.size() == 1) {
        for (int byte = row[0].first; byte <= row[0].last; ++byte) {
          single.set(static_cast<size_t>(byte));
        }
        continue;
      }
      Sequence sequence;
      for (const ByteRange& range : row) {
        ByteSet set;
        for (int byte = range.first; byte <= range.last; ++byte) {
          set.set(static_cast<size_t>(byte));
        }
        sequence.push_back(bytes(set));
      }
      alternatives.push_back(std::move(sequence));
    }
    if (alternatives.empty()) {
      return bytes(single);
    }
    if (single.any()) {
      alternatives.push_back({bytes(single)});
    }
    return add(std::move(alternatives));
  }
  // `item` from `least` to `most` times; most 0: without end.
  Sequence repeat(Sequence item, uint32_t least, uint32_t most) {
    if (item.size() != 1 || least > 1 || most > 1) {
      item = {add({std::move(item)})};
    }
    Sequence result;
    for (uint32_t i = 0; i < least; ++i) {
      result.push_back(item[0]);
    }
    if (most == 0) {
      const auto self = static_cast<int32_t>(rules_.size());
      result.push_back(add({{item[0], {Symbol::Kind::Rule, self}}, {}}));
      return result;
    }
    Sequence rest;
    for (uint32_t i = least; i < most; ++i) {
      Sequence longer = {item[0]};
      longer.insert(longer.end(), rest.begin(), rest.end());
      rest = {add({std::move(longer), {}})};
    }
    result.insert(result.end(), rest.begin(), rest.end());
    return result;
  }

  bool is_too_large() const { return num_symbols_ > kMaxSymbols; }
  bool is_defined(int32_t rule) const { return !rules_[static_cast<size_t>(rule)].empty(); }
  void define(int32_t rule, std::vector<Sequence> alternatives) {
    rules_[static_cast<size_t>(rule)] = std::move(alternatives);
  }
  Result<Grammar> finish();

 private:
  Error check() const;
  std::string name_of(int32_t rule) const;
  std::vector<bool> nullable() const;

  std::vector<std::vector<Sequence>> rules_;
  std::vector<ByteSet> sets_;
  std::unordered_map<std::string, int32_t> set_of_;
  std::map<std::string, int32_t> names_;
  size_t num_symbols_ = 0;
};

// Which rules may stand for no byte.
std::vector<bool> Rules::nullable() const {
  std::vector<bool> found(rules_.size(), false);
  const auto is_empty = [&](const Sequence& sequence) {
    return std::all_of(sequence.begin(), sequence.end(), [&](const Symbol& symbol) {
      return symbol.kind == Symbol::Kind::Rule && found[static_cast<size_t>(symbol.index)];
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = rules_.size(); i-- > 0;) {
      if (!found[i] && std::any_of(rules_[i].begin(), rules_[i].end(), is_empty)) {
        found[i] = changed = true;
      }
    }
  }
  return found;
}

std::string Rules::name_of(int32_t rule) const {
  const auto found = std::find_if(names_.begin(), names_.end(),
                                  [&](const auto& row) { return row.second == rule; });
  return found == names_.end() ? "of a repetition" : found->first;
}

Error Rules::check() const {
  for (const auto& [name, rule] : names_) {
    ET_CHECK_OR_RETURN_ERROR(is_defined(rule), InvalidArgument,
                             "Grammar: rule %s is used and not defined", name.c_str());
  }
  // A rule that can begin with itself would be entered without end: sought depth first.
  const std::vector<bool> empty = nullable();
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> mark(rules_.size(), kNew);
  struct Visit {
    int32_t rule;
    std::vector<int32_t> next;
  };
  const auto begins_with = [&](int32_t rule) {
    std::vector<int32_t> found;
    for (const Sequence& sequence : rules_[static_cast<size_t>(rule)]) {
      for (const Symbol& symbol : sequence) {
        if (symbol.kind != Symbol::Kind::Rule) {
          break;
        }
        const bool is_loop = symbol.index == rule && &symbol == &sequence.back();
        if (is_loop) {
          break;  // of a repetition of what may be empty: it ends where it began
        }
        found.push_back(symbol.index);
        if (!empty[static_cast<size_t>(symbol.index)]) {
          break;
        }
      }
    }
    return found;
  };
  for (size_t start = 0; start < rules_.size(); ++start) {
    if (mark[start] != kNew) {
      continue;
    }
    std::vector<Visit> open;
    mark[start] = kOpen;
    open.push_back({static_cast<int32_t>(start), begins_with(static_cast<int32_t>(start))});
    while (!open.empty()) {
      if (open.back().next.empty()) {
        mark[static_cast<size_t>(open.back().rule)] = kDone;
        open.pop_back();
        continue;
      }
      const int32_t next = open.back().next.back();
      open.back().next.pop_back();
      ET_CHECK_OR_RETURN_ERROR(
          mark[static_cast<size_t>(next)] != kOpen, InvalidArgument,
          "Grammar: rule %s can begin with itself; write it with * or with itself at the end",
          name_of(next).c_str());
      if (mark[static_cast<size_t>(next)] == kNew) {
        mark[static_cast<size_t>(next)] = kOpen;
        open.push_back({next, begins_with(next)});
      }
    }
  }
  return Error::Ok;
}

Result<Grammar> Rules::finish() {
  const auto root = names_.find("root");
  ET_CHECK_OR_RETURN_ERROR(root != names_.end() && is_defined(root->second), InvalidArgument,
                           "Grammar: expected a rule root, found none");
  ET_CHECK_OK_OR_RETURN_ERROR(check());
  Grammar grammar;
  grammar.sets = std::move(sets_);
  grammar.root = root->second;
  for (const auto& alternatives : rules_) {
    std::vector<int32_t>& starts = grammar.rules.emplace_back();
    for (const Sequence& sequence : alternatives) {
      starts.push_back(static_cast<int32_t>(grammar.symbols.size()));
      grammar.symbols.insert(grammar.symbols.end(), sequence.begin(), sequence.end());
      grammar.symbols.push_back({Symbol::Kind::End, 0});
    }
  }
  return grammar;
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Result<Grammar> read() {
    skip(true);
    while (at_ < text_.size()) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_rule());
      skip(true);
    }
    return rules_.finish();
  }

 private:
  Error wrong(const char* expected) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    ET_LOG(Error, "Grammar, line %d: expected %s, found %s", static_cast<int>(line), expected,
           at_ < text_.size() ? ("\"" + text_.substr(at_, 20) + "\"").c_str() : "the end");
    return Error::InvalidArgument;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(const char* word) {
    const std::string wanted = word;
    if (text_.compare(at_, wanted.size(), wanted) != 0) {
      return false;
    }
    at_ += wanted.size();
    return true;
  }

  // Blanks and comments; over_lines: line ends, too.
  void skip(bool over_lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string name() {
    const size_t begin = at_;
    while (is_name(peek())) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  Error read_rule() {
    const std::string rule_name = name();
    if (rule_name.empty()) {
      return wrong("the name of a rule");
    }
    skip(true);
    if (!take("::=")) {
      return wrong("::=");
    }
    const int32_t rule = rules_.rule(rule_name);
    ET_CHECK_OR_RETURN_ERROR(!rules_.is_defined(rule), InvalidArgument,
                             "Grammar: rule %s is defined twice", rule_name.c_str());
    auto alternatives = ET_UNWRAP(read_alternatives(0));
    rules_.define(rule, std::move(alternatives));
    skip(false);
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r') {
      return wrong("the end of the line");
    }
    return Error::Ok;
  }

  Result<std::vector<Sequence>> read_alternatives(int depth) {
    std::vector<Sequence> found;
    do {
      skip(true);
      found.push_back(ET_UNWRAP(read_sequence(depth)));
      skip(depth > 0);
    } while (take("|"));
    ET_CHECK_OR_RETURN_ERROR(!rules_.is_too_large(), InvalidArgument,
                             "Grammar: more than %zu symbols", kMaxSymbols);
    return found;
  }

  Result<Sequence> read_sequence(int depth) {
    Sequence found;
    while (true) {
      skip(depth > 0);
      Sequence item;
      if (take("\"")) {
        item = ET_UNWRAP(read_literal());
      } else if (take("[")) {
        item = { ET_UNWRAP(read_class()) };
      } else if (take(".")) {
        item = {rules_.characters({{0, kLastCharacter}})};
      } else if (take("(")) {
        ET_CHECK_OR_RETURN_ERROR(depth < kMaxParentheses, InvalidArgument,
                                 "Grammar: more than %d parentheses in one another",
                                 kMaxParentheses);
        auto alternatives = ET_UNWRAP(read_alternatives(depth + 1));
        skip(true);
        if (!take(")")) {
          return wrong(")");
        }
        item = {rules_.add(std::move(alternatives))};
      } else if (is_name(peek())) {
        // Of the next rule, where this line's end was skipped.
        const size_t begin = at_;
        const std::string rule = name();
        skip(depth > 0);
        if (text_.compare(at_, 3, "::=") == 0) {
          at_ = begin;
          return found;
        }
        item = {{Symbol::Kind::Rule, rules_.rule(rule)}};
      } else {
        return found;
      }
      item = ET_UNWRAP(read_repetition(std::move(item), depth));
      found.insert(found.end(), item.begin(), item.end());
    }
  }

  Result<Sequence> read_repetition(Sequence item, int depth) {
    while (true) {
      skip(depth > 0);
      if (take("*")) {
        item = rules_.repeat(std::move(item), 0, 0);
      } else if (take("+")) {
        item = rules_.repeat(std::move(item), 1, 0);
      } else if (take("?")) {
        item = rules_.repeat(std::move(item), 0, 1);
      } else if (take("{")) {
        const uint32_t least = ET_UNWRAP(read_count());
        uint32_t most = least;
        if (take(",")) {
          const bool is_endless = peek() == '}';
          most = is_endless ? 0 : ET_UNWRAP(read_count());
          if (!is_endless && most < std::max(least, 1u)) {
            return wrong("a number above 0 and not below the one before");
          }
        } else if (least == 0) {
          return wrong("a number above 0");
        }
        if (!take("}")) {
          return wrong("}");
        }
        item = rules_.repeat(std::move(item), least, most);
      } else {
        return item;
      }
    }
  }

  Result<uint32_t> read_count() {
    uint32_t count = 0;
    const size_t begin = at_;
    while (peek() >= '0' && peek() <= '9' && count <= kMaxRepetitions) {
      count = count * 10 + static_cast<uint32_t>(text_[at_++] - '0');
    }
    if (at_ == begin || count > kMaxRepetitions) {
      return wrong("a number up to 10000");
    }
    return count;
  }

  Result<Sequence> read_literal() {
    Sequence found;
    while (!take("\"")) {
      if (peek() == '\n' || at_ >= text_.size()) {
        return wrong("\" at the end of a text");
      }
      for (const char byte : utf8(ET_UNWRAP(read_character()))) {
        ByteSet set;
        set.set(static_cast<uint8_t>(byte));
        found.push_back(rules_.bytes(set));
      }
    }
    return found;
  }

  Result<Symbol> read_class() {
    const bool is_negated = take("^");
    std::vector<CharacterRange> ranges;
    while (!take("]")) {
      if (peek() == '\n' || at_ >= text_.size()) {
        return wrong("] at the end of a set of characters");
      }
      CharacterRange range;
      range.first = range.last = ET_UNWRAP(read_character());
      if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        range.last = ET_UNWRAP(read_character());
        if (range.last < range.first) {
          return wrong("a range whose end is not before its beginning");
        }
      }
      ranges.push_back(range);
    }
    if (is_negated) {
      ranges = complement(std::move(ranges));
    }
    if (ranges.empty()) {
      return wrong("a character at least in a set");
    }
    return rules_.characters(ranges);
  }

  Result<uint32_t> read_character() {
    if (take("\\")) {
      return read_escape();
    }
    using tokenizers::detail::Utf8Step;
    const Utf8Step step = at_ < text_.size() ? tokenizers::detail::utf8_step(text_, at_)
                                             : Utf8Step{Utf8Step::kBad, 0};
    if (step.kind != Utf8Step::kComplete) {
      return wrong("UTF-8");
    }
    const uint32_t character = tokenizers::detail::code_point(text_, at_);
    at_ += step.length;
    return character;
  }

  Result<uint32_t> read_escape() {
    constexpr const char* kPlain = "\"\\[]-^/";
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'x':
        return read_hex(2);
      case 'u':
        return read_hex(4);
      case 'U':
        return read_hex(8);
      default:
        if (c != '\0' && std::string(kPlain).find(c) != std::string::npos) {
          return static_cast<uint32_t>(c);
        }
        --at_;
        return wrong("an escape of n r t x u U \" \\ [ ] - ^ /");
    }
  }

  Result<uint32_t> read_hex(int digits) {
    uint64_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = peek();
      const bool is_digit = c >= '0' && c <= '9';
      const char letter = static_cast<char>(c | 0x20);
      if (!is_digit && (letter < 'a' || letter > 'f')) {
        return wrong("a hexadecimal digit");
      }
      value = value * 16 + static_cast<uint64_t>(is_digit ? c - '0' : letter - 'a' + 10);
      ++at_;
    }
    if (value > kLastCharacter || (value >= 0xD800 && value <= 0xDFFF)) {
      return wrong("a Unicode character behind \\");
    }
    return static_cast<uint32_t>(value);
  }

  const std::string& text_;
  size_t at_ = 0;
  Rules rules_;
};

}  // namespace

Result<Grammar> parse_gbnf(const std::string& text) {
  return Reader(text).read();
}

}  // namespace executorch::extension::llm
