// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/grammar/utf8_ranges.h>

#include <algorithm>
#include <cstddef>

namespace executorch::extension::llm {

namespace {

constexpr uint32_t kLastOfLength[] = {0x7F, 0x7FF, 0xFFFF, kLastCharacter};

// Cuts a range until all its bytes but one run through all their values, or the range is one row.
void add_rows(uint32_t first, uint32_t last, std::vector<std::vector<ByteRange>>& rows) {
  for (const uint32_t end : kLastOfLength) {
    if (first <= end && end < last) {
      add_rows(first, end, rows);
      add_rows(end + 1, last, rows);
      return;
    }
  }
  const std::string low = utf8(first);
  for (size_t tail = 1; tail < low.size(); ++tail) {
    const uint32_t mask = (1u << (6 * tail)) - 1;
    if ((first & ~mask) == (last & ~mask)) {
      continue;
    }
    if ((first & mask) != 0) {
      add_rows(first, first | mask, rows);
      add_rows((first | mask) + 1, last, rows);
      return;
    }
    if ((last & mask) != mask) {
      add_rows(first, (last & ~mask) - 1, rows);
      add_rows(last & ~mask, last, rows);
      return;
    }
  }
  const std::string high = utf8(last);
  std::vector<ByteRange>& row = rows.emplace_back();
  for (size_t i = 0; i < low.size(); ++i) {
    row.push_back({static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i])});
  }
}

}  // namespace

std::string utf8(uint32_t character) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((character >> shift) & 0x3F));
  };
  if (character <= 0x7F) {
    return {static_cast<char>(character)};
  }
  if (character <= 0x7FF) {
    return {static_cast<char>(0xC0 | (character >> 6)), tail(0)};
  }
  if (character <= 0xFFFF) {
    return {static_cast<char>(0xE0 | (character >> 12)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0 | (character >> 18)), tail(12), tail(6), tail(0)};
}

size_t utf8_length(const std::string& text, size_t at) {
  if (at >= text.size()) {
    return 0;
  }
  const auto lead = static_cast<uint8_t>(text[at]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  const bool has_tail = std::all_of(text.begin() + static_cast<ptrdiff_t>(at + 1),
                                    text.begin() + static_cast<ptrdiff_t>(at + length), [](char c) {
                                      return (static_cast<uint8_t>(c) & 0xC0) == 0x80;
                                    });
  // Longer forms of short characters and surrogates come out otherwise than they went in.
  if (!has_tail || utf8(utf8_character(text, at, length)) != text.substr(at, length)) {
    return 0;
  }
  const uint32_t character = utf8_character(text, at, length);
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  return is_surrogate || character > kLastCharacter ? 0 : length;
}

uint32_t utf8_character(const std::string& text, size_t at, size_t length) {
  constexpr uint8_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t character = static_cast<uint8_t>(text[at]) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) {
    character = (character << 6) | (static_cast<uint8_t>(text[at + i]) & 0x3F);
  }
  return character;
}

std::vector<CharacterRange> complement(std::vector<CharacterRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CharacterRange& a, const CharacterRange& b) { return a.first < b.first; });
  std::vector<CharacterRange> others;
  uint32_t next = 0;
  for (const CharacterRange& range : ranges) {
    if (range.first > next) {
      others.push_back({next, range.first - 1});
    }
    next = std::max(next, range.last + 1);
  }
  if (next <= kLastCharacter) {
    others.push_back({next, kLastCharacter});
  }
  return others;
}

std::vector<std::vector<ByteRange>> utf8_ranges(const std::vector<CharacterRange>& ranges) {
  std::vector<std::vector<ByteRange>> rows;
  const auto add = [&](uint32_t first, uint32_t last) {
    if (first <= last) {
      add_rows(first, last, rows);
    }
  };
  for (const CharacterRange& range : ranges) {
    add(range.first, std::min(range.last, 0xD7FFu));
    add(std::max(range.first, 0xE000u), range.last);
  }
  return rows;
}

}  // namespace executorch::extension::llm
