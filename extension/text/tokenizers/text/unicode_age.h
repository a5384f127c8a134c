// SPDX-License-Identifier: BSD-3-Clause
// Characters that the reference, whose Unicode is older, treats as not assigned.
#pragma once

namespace tokenizers::detail {

/// No mark, of combining class 0 and without a decomposition there.
bool is_not_normalized(char32_t code);
/// Punctuation there when it is none in our tables, and none when it is.
bool is_other_punctuation(char32_t code);
/// The same of nonspacing marks.
bool is_other_nonspacing(char32_t code);
/// No format character there.
bool is_later_format(char32_t code);

}  // namespace tokenizers::detail
