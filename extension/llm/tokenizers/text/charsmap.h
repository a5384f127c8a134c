// SPDX-License-Identifier: BSD-3-Clause
// SentencePiece's compiled normalization rules: a double array of prefixes, then what they become.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

class Charsmap {
 public:
  /// No rules.
  Charsmap() = default;
  /// Nothing when the bytes are not of this form.
  static std::optional<Charsmap> read(std::string_view bytes);

  /// The longest rule that the text begins with.
  struct Rule {
    size_t length;
    std::string_view becomes;
  };
  std::optional<Rule> longest(std::string_view text) const;
  bool is_empty() const { return units_.empty(); }

 private:
  bool is_whole() const;

  std::vector<uint32_t> units_;
  std::string texts_;  // each ends with a NUL
};

}  // namespace tokenizers::detail
