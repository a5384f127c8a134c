// SPDX-License-Identifier: BSD-3-Clause
// Pieces <0x00> to <0xFF>, which stand for the bytes of characters that a vocabulary lacks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace tokenizers::detail {

inline std::string piece_of_byte(uint8_t byte) {
  char text[8];
  std::snprintf(text, sizeof(text), "<0x%02X>", byte);
  return text;
}

inline std::optional<uint8_t> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char c : piece.substr(3, 2)) {
    const unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                  : 16;
    if (digit == 16) {
      return std::nullopt;
    }
    value = 16 * value + digit;
  }
  return static_cast<uint8_t>(value);
}

}  // namespace tokenizers::detail
