// SPDX-License-Identifier: BSD-3-Clause
// Conversions between UTF-8 and UTF-16.
#include <executorch/extension/android/jni/utf.h>

#include <cstdint>

namespace executorch::extension::jni {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_high(char16_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(char16_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// By its first byte: 0 where no character begins with it.
size_t length_of(uint8_t first) {
  if (first < 0x80) {
    return 1;
  }
  if (first < 0xC2 || first > 0xF4) {
    return 0;
  }
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

bool is_continuation(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

void append(char32_t character, std::string* out) {
  if (character < 0x80) {
    *out += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr uint8_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  *out += static_cast<char>(kFirst[more] | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i) {
    *out += static_cast<char>(0x80 | ((character >> (6 * i)) & 0x3F));
  }
}

// The character of `length` bytes, or the replacement if they are none: continuation bytes missing,
// more bytes than needed, a half of a pair, or beyond U+10FFFF.
char32_t decode(std::string_view bytes, size_t length) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  auto character = static_cast<char32_t>(static_cast<uint8_t>(bytes[0]));
  if (length == 1) {
    return character;
  }
  character &= 0x7FU >> length;
  for (size_t i = 1; i < length; ++i) {
    character = character << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3F);
  }
  const bool is_half = character >= 0xD800 && character < 0xE000;
  return character < kLeast[length] || is_half || character > 0x10FFFF ? kReplacement : character;
}

size_t continuations(std::string_view bytes, size_t most) {
  size_t count = 0;
  while (count + 1 < most && count + 1 < bytes.size() && is_continuation(bytes[count + 1])) {
    ++count;
  }
  return count;
}

}  // namespace

std::string utf16_to_utf8(std::u16string_view units) {
  std::string result;
  result.reserve(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    const char16_t unit = units[i];
    if (is_high(unit) && i + 1 < units.size() && is_low(units[i + 1])) {
      append(0x10000 + ((unit - 0xD800U) << 10) + (units[++i] - 0xDC00U), &result);
    } else {
      append(is_high(unit) || is_low(unit) ? kReplacement : unit, &result);
    }
  }
  return result;
}

std::u16string utf8_to_utf16(std::string_view bytes) {
  std::u16string result;
  result.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = length_of(static_cast<uint8_t>(bytes[0]));
    const size_t found = length == 0 ? 1 : 1 + continuations(bytes, length);
    const char32_t character = found == length ? decode(bytes, length) : kReplacement;
    if (character < 0x10000) {
      result += static_cast<char16_t>(character);
    } else {
      result += static_cast<char16_t>(0xD800 + ((character - 0x10000) >> 10));
      result += static_cast<char16_t>(0xDC00 + ((character - 0x10000) & 0x3FF));
    }
    bytes.remove_prefix(found);
  }
  return result;
}

size_t whole_characters(std::string_view bytes) {
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const char byte = bytes[bytes.size() - back];
    if (!is_continuation(byte)) {
      return length_of(static_cast<uint8_t>(byte)) > back ? bytes.size() - back : bytes.size();
    }
  }
  return bytes.size();
}

}  // namespace executorch::extension::jni
