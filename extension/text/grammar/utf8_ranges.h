// SPDX-License-Identifier: BSD-3-Clause
// Characters as the bytes of UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::extension::llm {

inline constexpr uint32_t kLastCharacter = 0x10FFFF;

// Both ends belong to it.
struct CharacterRange {
  uint32_t first;
  uint32_t last;
};
struct ByteRange {
  uint8_t first;
  uint8_t last;
};

std::string utf8(uint32_t character);

// All characters that are in none of the ranges.
std::vector<CharacterRange> complement(std::vector<CharacterRange> ranges);

// Rows of byte ranges: the characters of the ranges, surrogates left out, are the texts with a byte
// of each range of a row.
std::vector<std::vector<ByteRange>> utf8_ranges(const std::vector<CharacterRange>& ranges);

}  // namespace executorch::extension::llm
