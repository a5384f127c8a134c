// SPDX-License-Identifier: BSD-3-Clause
// The one regular expression engine of the library: PCRE2, compiled to machine code where it can
// be.
#pragma once

#include <pytorch/tokenizers/result.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers {

/// Bytes [start, end) of the text.
struct Match {
  size_t start;
  size_t end;
};

/// A compiled pattern. Texts are UTF-8; find_all may be called from several threads at once.
class IRegex {
 public:
  virtual ~IRegex() = default;
  virtual Error compile(const std::string& pattern) = 0;
  /// Matches from left to right that do not overlap. An empty one right behind another is left out.
  virtual std::vector<Match> find_all(const std::string& text) const = 0;
  /// The pattern that matches `text` alone.
  static std::string escape(const std::string& text);
};

/// Classes as Unicode's recommendation has them, and as the reference tokenizers do: \s is
/// White_Space, \w letters, marks, decimal digits and connectors, sets may stand in sets, (?i)
/// follows Unicode. Both look-ahead and look-behind work.
class Pcre2Regex : public IRegex {
 public:
  Pcre2Regex();
  ~Pcre2Regex() override;
  Error compile(const std::string& pattern) override;
  std::vector<Match> find_all(const std::string& text) const override;

  /// As find_all, appended to `out`, of text that is known to be UTF-8. RegexFailure: it took too
  /// many steps.
  Error find_all(std::string_view text, std::vector<Match>& out) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

/// RegexFailure with the place in the log when it does not compile.
Result<std::unique_ptr<IRegex>> create_regex(const std::string& pattern);

}  // namespace tokenizers
