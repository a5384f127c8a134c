// SPDX-License-Identifier: BSD-3-Clause
// A text with another in place of each part.
#pragma once

#include <string>
#include <string_view>

namespace tokenizers::detail {

/// Appends `text` with `to` in place of each `from`; of an empty `from`, the text.
inline void append_replaced(std::string_view text, std::string_view from, std::string_view to,
                            std::string& out) {
  size_t done = 0;
  for (size_t at; !from.empty() && (at = text.find(from, done)) != std::string_view::npos;
       done = at + from.size()) {
    out.append(text, done, at - done).append(to);
  }
  out.append(text, done);
}

inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  append_replaced(text, from, to, out);
  return out;
}

}  // namespace tokenizers::detail
