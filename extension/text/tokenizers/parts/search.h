// SPDX-License-Identifier: BSD-3-Clause
// Looking for a text or a regular expression, whichever the file names.
#pragma once

#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <pytorch/tokenizers/regex.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// A regular expression gave up on a text. Caught where the text is encoded.
struct MatchFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Search {
 public:
  /// Throws BadPart when the expression does not compile.
  explicit Search(const Pattern& pattern) : literal_(pattern.text) {
    if (!pattern.is_regex) {
      return;
    }
    auto regex = std::make_unique<Pcre2Regex>();
    if (regex->compile(pattern.text) != Error::Ok) {
      throw BadPart("a regular expression that does not compile");
    }
    regex_ = std::move(regex);
  }

  /// Appends what is found in text that is UTF-8, from left to right; a regular expression may find
  /// empty texts. Throws MatchFailure.
  void find_all(std::string_view text, std::vector<Match>& out) const {
    if (regex_ != nullptr) {
      if (regex_->find_all(text, out) != Error::Ok) {
        throw MatchFailure("a regular expression took too many steps");
      }
      return;
    }
    for (size_t at = 0; !literal_.empty(); at = out.back().end) {
      at = text.find(literal_, at);
      if (at == std::string_view::npos) {
        break;
      }
      out.push_back({at, at + literal_.size()});
    }
  }

  /// The text with `content` in place of what is found.
  std::string replaced(std::string_view text, std::string_view content) const {
    std::vector<Match> matches;
    find_all(text, matches);
    std::string out;
    size_t done = 0;
    for (const Match& match : matches) {
      out.append(text, done, match.start - done).append(content);
      done = match.end;
    }
    return out.append(text, done);
  }

 private:
  std::string literal_;
  std::unique_ptr<const Pcre2Regex> regex_;
};

}  // namespace tokenizers::detail
