// SPDX-License-Identifier: BSD-3-Clause
// Properties and normal forms of Unicode, as the reference has them (see unicode_age.h).
#pragma once

#include <string>
#include <string_view>

namespace tokenizers::detail {

/// The property White_Space.
bool is_white_space(char32_t code);
/// General category N*.
bool is_numeric(char32_t code);
/// ASCII punctuation and symbols, and general category P*.
bool is_punctuation(char32_t code);
/// General category Mn; any M*.
bool is_nonspacing_mark(char32_t code);
bool is_mark(char32_t code);
/// General category Cc, Cf, Cs or Co; not Cn.
bool is_other(char32_t code);
/// What \w matches: alphabetic, marks, decimal digits, connectors, joiners.
bool is_word(char32_t code);
/// The blocks of ideographs that BERT sets apart.
bool is_cjk(char32_t code);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// Of text that is known to be UTF-8.
std::string normalized(const std::string& text, NormalForm form);
/// Each character in lower case, without regard to its neighbours.
std::string lower_case(std::string_view text);

/// Bytes of white space at the beginning or the end of text that is known to be UTF-8.
size_t leading_space(std::string_view text);
size_t trailing_space(std::string_view text);

}  // namespace tokenizers::detail
