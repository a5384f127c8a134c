// SPDX-License-Identifier: BSD-3-Clause
// UTF-8 and UTF-16, as texts cross from native code to Java and back. What is no valid text becomes
// U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace executorch::extension::jni {

std::string utf16_to_utf8(std::u16string_view units);
std::u16string utf8_to_utf16(std::string_view bytes);

// Bytes at the beginning of a text that are not cut within a character: the text less an incomplete
// last character.
size_t whole_characters(std::string_view bytes);

}  // namespace executorch::extension::jni
