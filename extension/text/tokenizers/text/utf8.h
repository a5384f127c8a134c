// SPDX-License-Identifier: BSD-3-Clause
// Code points in UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tokenizers::detail {

constexpr char32_t kReplacement = 0xFFFD;

/// Bytes of the character that a first byte begins, in text that is known to be UTF-8.
inline size_t utf8_length(char first) {
  const auto byte = static_cast<uint8_t>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline bool is_continuation(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

/// The code point at `at`, in text that is known to be UTF-8.
inline char32_t code_point(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<char32_t>(static_cast<uint8_t>(text[at + i]));
  };
  switch (utf8_length(text[at])) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

/// Start of the character before `end` (> 0), in text that is known to be UTF-8.
inline size_t previous_character(std::string_view text, size_t end) {
  do {
    --end;
  } while (end > 0 && is_continuation(text[end]));
  return end;
}

inline void append_utf8(char32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// What the bytes at `at` are: a whole character, the beginning of one that the text cuts off, or
/// neither; and how many bytes that takes (for neither: the longest beginning of a character, at
/// least one, as Unicode recommends).
struct Utf8Step {
  enum Kind { kComplete, kUnfinished, kBad } kind;
  size_t length;
};
Utf8Step utf8_step(std::string_view text, size_t at);

/// Whether all of the text is UTF-8 (no surrogates, nothing above U+10FFFF, shortest forms).
bool is_utf8(std::string_view text);

/// The text with each bad sequence as U+FFFD.
std::string with_replacements(std::string_view text);

/// `text`, or a copy of it in `storage` where it needs replacements.
inline std::string_view as_utf8(std::string_view text, std::string& storage) {
  if (is_utf8(text)) {
    return text;
  }
  storage = with_replacements(text);
  return storage;
}

}  // namespace tokenizers::detail
