// SPDX-License-Identifier: BSD-3-Clause
// GPT-2's spelling of bytes as printable characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tokenizers::detail {

/// Bytes that print in Latin-1 are themselves, the other 68 are U+0100 and on, in order.
char32_t byte_to_character(unsigned char byte);

/// Each byte as its character, in UTF-8.
std::string to_byte_characters(std::string_view bytes);

/// The inverse; nothing when a character spells no byte.
std::optional<std::string> from_byte_characters(std::string_view text);

}  // namespace tokenizers::detail
