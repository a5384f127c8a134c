// SPDX-License-Identifier: BSD-3-Clause
// The well-formed sequences of the Unicode standard, table 3-7.
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <cstring>

namespace tokenizers::detail {

Utf8Step utf8_step(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) {
    return {Utf8Step::kComplete, 1};
  }
  if (first < 0xC2 || first > 0xF4) {
    return {Utf8Step::kBad, 1};
  }
  const size_t length = utf8_length(text[at]);
  // The second byte's range shuts out long forms, surrogates and what is above U+10FFFF.
  uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) {
      return {Utf8Step::kUnfinished, i};
    }
    const auto byte = static_cast<uint8_t>(text[at + i]);
    if (byte < low || byte > high) {
      return {Utf8Step::kBad, i};
    }
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8Step::kComplete, length};
}

namespace {

/// Bytes of a whole character below U+10000 that is not at an edge of the table; 0 for all else.
size_t plain_length(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) {
    return 1;
  }
  if (at + 3 > text.size() || !is_continuation(text[at + 1])) {
    return 0;
  }
  if (first >= 0xC2 && first < 0xE0) {
    return 2;
  }
  const bool is_plain = first > 0xE0 && first < 0xF0 && first != 0xED;
  return is_plain && is_continuation(text[at + 2]) ? 3 : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight;
    if (at + 8 <= text.size() &&
        (std::memcpy(&eight, text.data() + at, 8), (eight & 0x8080808080808080u) == 0)) {
      at += 8;
      continue;
    }
    const size_t length = plain_length(text, at);
    if (length != 0) {
      at += length;
      continue;
    }
    const Utf8Step step = utf8_step(text, at);
    if (step.kind != Utf8Step::kComplete) {
      return false;
    }
    at += step.length;
  }
  return true;
}

std::string with_replacements(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.kind == Utf8Step::kComplete) {
      out.append(text, at, step.length);
    } else {
      append_utf8(kReplacement, out);
    }
    at += step.length;
  }
  return out;
}

}  // namespace tokenizers::detail
