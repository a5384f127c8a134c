// SPDX-License-Identifier: BSD-3-Clause
// Patterns of other engines in PCRE2's words, and matching that is bounded in steps.
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <pytorch/tokenizers/regex.h>

#include <cstring>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace tokenizers {

namespace {

// What \s and \w mean to Oniguruma and to Rust's regex; PCRE2's \s has U+180E too, and its \w lacks
// some marks.
constexpr const char kSpace[] = "\\p{Z}\\x09-\\x0d\\x{85}";
constexpr const char kWord[] = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

/// Escapes of classes spelled out, \uHHHH as \x{HHHH}; all else as it is.
std::string in_pcre2_words(const std::string& pattern) {
  std::string out;
  size_t depth = 0;  // of sets
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '[') {
      ++depth;
    } else if (c == ']' && depth > 0 && out.back() != '[') {
      --depth;
    }
    if (c != '\\' || i + 1 == pattern.size()) {
      out += c;
      continue;
    }
    const char next = pattern[++i];
    const char* members = next == 's' || next == 'S'   ? kSpace
                          : next == 'w' || next == 'W' ? kWord
                                                       : nullptr;
    if (members != nullptr && depth > 0 && (next == 's' || next == 'w')) {
      out += members;
    } else if (members != nullptr) {
      out += next == 's' || next == 'w' ? "[" : "[^";
      out.append(members).append("]");
    } else if (next == 'u' && i + 4 < pattern.size() && pattern[i + 1] != '{') {
      out.append("\\x{").append(pattern, i + 1, 4).append("}");
      i += 4;
    } else {
      out += c;
      out += next;
    }
  }
  return out;
}

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

std::string IRegex::escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::strchr("\\^$.|?*+()[]{}-#&~ ", c) != nullptr && c != '\0') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

struct Pcre2Regex::Code {
  pcre2_code* code = nullptr;
  bool is_machine_code = false;
  ~Code() { pcre2_code_free(code); }
};

Pcre2Regex::Pcre2Regex() = default;
Pcre2Regex::~Pcre2Regex() = default;

Error Pcre2Regex::compile(const std::string& pattern) {
  const std::string words = in_pcre2_words(pattern);
  int why = 0;
  PCRE2_SIZE where = 0;
  auto code = std::make_unique<Code>();
  code->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(words.data()), words.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_ALT_EXTENDED_CLASS | PCRE2_NEVER_BACKSLASH_C,
                    &why, &where, nullptr);
  if (code->code == nullptr) {
    char text[256];
    pcre2_get_error_message(why, reinterpret_cast<PCRE2_UCHAR*>(text), sizeof(text));
    TK_LOG(Error, "regular expression %.200s: %s at %zu of %.200s", pattern.c_str(), text, where,
           words.c_str());
    return Error::RegexFailure;
  }
  code->is_machine_code = pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE) == 0;
  code_ = std::move(code);
  return Error::Ok;
}

Error Pcre2Regex::find_all(std::string_view text, std::vector<Match>& out) const {
  if (code_ == nullptr) {
    return Error::Uninitialized;
  }
  std::unique_ptr<pcre2_match_data, FreeMatchData> data(pcre2_match_data_create(1, nullptr));
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() != nullptr ? text.data() : "");
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(data.get());
  size_t last_end = std::string_view::npos;
  for (size_t at = 0; at <= text.size();) {
    int count = code_->is_machine_code
                    ? pcre2_jit_match(code_->code, subject, text.size(), at, 0, data.get(), nullptr)
                    : PCRE2_ERROR_JIT_STACKLIMIT;
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) {  // the other matcher takes its memory from the heap
      count = pcre2_match(code_->code, subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          data.get(), nullptr);
    }
    if (count == PCRE2_ERROR_NOMATCH) {
      break;
    }
    if (count < 0) {
      TK_LOG(Error, "regular expression: PCRE2 gave up with %d at byte %zu of %zu", count, at,
             text.size());
      return Error::RegexFailure;
    }
    const bool is_empty = found[0] == found[1];
    if (!is_empty || found[0] != last_end) {
      out.push_back({found[0], found[1]});
    }
    at = last_end = found[1];
    if (is_empty) {
      at += at < text.size() ? detail::utf8_length(text[at]) : 1;
    }
  }
  return Error::Ok;
}

std::vector<Match> Pcre2Regex::find_all(const std::string& text) const {
  std::vector<Match> found;
  if (!detail::is_utf8(text) || find_all(std::string_view(text), found) != Error::Ok) {
    found.clear();
  }
  return found;
}

Result<std::unique_ptr<IRegex>> create_regex(const std::string& pattern) {
  auto regex = std::make_unique<Pcre2Regex>();
  TK_CHECK_OK_OR_RETURN_ERROR(regex->compile(pattern));
  return std::unique_ptr<IRegex>(std::move(regex));
}

}  // namespace tokenizers
