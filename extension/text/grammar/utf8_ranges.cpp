// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/grammar/utf8_ranges.h>

#include <algorithm>

#include <executorch/extension/text/tokenizers/text/utf8.h>

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
  std::string bytes;
  tokenizers::detail::append_utf8(character, bytes);
  return bytes;
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
