// SPDX-License-Identifier: BSD-3-Clause
// SentencePiece's compiled normalization rules: a double array of prefixes, then what they become.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tokenizers::detail {

class Charsmap {
 public:
  /// No rules.
  Charsmap() = default;
  /// Nothing when the bytes are not of this form.
  static std::optional<Charsmap> read(std::string bytes);

  /// The longest rule that the text begins with.
  struct Rule {
    size_t length;
    std::string_view becomes;
  };
  std::optional<Rule> longest(std::string_view text) const;
  /// Whether a rule may begin with it.
  bool has_rule_of(uint8_t first) const;
  /// Whether one is that byte alone, or goes on with a byte below 0x80.
  bool has_ascii_rule_of(uint8_t first) const;
  bool is_empty() const { return num_units_ == 0; }

 private:
  bool is_complete() const;
  uint32_t unit(size_t at) const;
  std::string_view texts() const { return std::string_view(bytes_).substr(4 + 4 * num_units_); }

  std::string bytes_;  // as in the file: size, units, texts, each of which ends with a NUL
  size_t num_units_ = 0;
};

}  // namespace tokenizers::detail
