// SPDX-License-Identifier: BSD-3-Clause
// utf8proc's tables behind the questions that tokenizers ask.
#include <executorch/extension/text/tokenizers/text/unicode.h>
#include <executorch/extension/text/tokenizers/text/unicode_age.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <utf8proc.h>
#include <algorithm>
#include <cstdlib>
#include <new>

namespace tokenizers::detail {

namespace {

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<signed char>(c) < 0; });
}

}  // namespace

bool is_white_space(char32_t code) {
  if (code < 0x80) {
    return code == ' ' || (code >= '\t' && code <= '\r');
  }
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_numeric(char32_t code) {
  if (code < 0x80) {
    return code >= '0' && code <= '9';
  }
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t code) {
  if (code < 0x80) {
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
  }
  const auto kind = category(code);
  return (kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO) !=
         is_other_punctuation(code);
}

bool is_nonspacing_mark(char32_t code) {
  return (category(code) == UTF8PROC_CATEGORY_MN && !is_not_normalized(code)) !=
         is_other_nonspacing(code);
}

bool is_mark(char32_t code) {
  const auto kind = category(code);
  const bool was_mark = code == 0x1CF2 || code == 0x1CF3;  // until Unicode 12
  return (kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME &&
          !is_not_normalized(code)) ||
         was_mark;
}

bool is_other(char32_t code) {
  return category(code) >= UTF8PROC_CATEGORY_CC && !is_later_format(code);
}

bool is_word(char32_t code) {
  if (code < 0x80) {
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || code == '_' ||
           (code >= 'a' && code <= 'z');
  }
  const auto kind = category(code);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) ||
         kind == UTF8PROC_CATEGORY_PC || code == 0x200C || code == 0x200D ||
         (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
         (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

bool is_cjk(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
         (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

namespace {

void append_normalized(std::string_view text, utf8proc_option_t options, std::string& out) {
  if (is_ascii(text)) {
    out += text;
    return;
  }
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  if (size < 0) {
    throw std::bad_alloc();  // the text is UTF-8: nothing else can fail
  }
  out.append(reinterpret_cast<char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);
}

}  // namespace

std::string normalized(const std::string& text, NormalForm form) {
  if (is_ascii(text)) {
    return text;
  }
  const bool composes = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool is_compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (is_compatible ? UTF8PROC_COMPAT : 0));
  // A character that is not assigned is a starter which nothing composes with: forms end before it
  // and begin after it.
  std::string out;
  out.reserve(text.size());
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + utf8_length(text[at]);
    if (is_not_normalized(code_point(text, at))) {
      append_normalized(std::string_view(text).substr(done, at - done), options, out);
      out.append(text, at, end - at);
      done = end;
    }
    at = end;
  }
  append_normalized(std::string_view(text).substr(done), options, out);
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
    const char32_t code = code_point(text, at);
    if (code < 0x80) {
      out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
    } else if (code == 0x130) {  // the one whose lower case is two characters
      out += "i\xCC\x87";
    } else {
      append_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))),
                  out);
    }
  }
  return out;
}

size_t leading_space(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && is_white_space(code_point(text, at))) {
    at += utf8_length(text[at]);
  }
  return at;
}

size_t trailing_space(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const size_t start = previous_character(text, end);
    if (!is_white_space(code_point(text, start))) {
      break;
    }
    end = start;
  }
  return text.size() - end;
}

}  // namespace tokenizers::detail
