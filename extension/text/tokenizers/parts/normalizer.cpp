// SPDX-License-Identifier: BSD-3-Clause
// One small class for each kind of normalizer, and the table of their names.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/normalizer.h>
#include <executorch/extension/text/tokenizers/parts/search.h>
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/charsmap.h>
#include <executorch/extension/text/tokenizers/text/unicode.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <pytorch/tokenizers/base64.h>

#include <optional>
#include <utility>
#include <vector>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;

/// A normalizer that is a function.
template <typename Function>
class Simple : public Normalizer {
 public:
  explicit Simple(Function function) : function_(std::move(function)) {}
  std::string normalize(std::string text) const override { return function_(std::move(text)); }

 private:
  Function function_;
};

template <typename Function>
Normalizer::Ptr simple(Function function) {
  return std::make_unique<Simple<Function>>(std::move(function));
}

template <NormalForm form>
Normalizer::Ptr make_form(const Json&) {
  return simple([](const std::string& text) { return normalized(text, form); });
}

Normalizer::Ptr make_sequence(const Json& part) {
  std::vector<Normalizer::Ptr> steps;
  for (const Json& step : field<Json>(part, "normalizers")) {
    steps.push_back(make_normalizer(step));
  }
  return simple([steps = std::move(steps)](std::string text) {
    for (const auto& step : steps) {
      text = step->normalize(std::move(text));
    }
    return text;
  });
}

Normalizer::Ptr make_replace(const Json& part) {
  auto content = field<std::string>(part, "content");
  return simple([search = Search(pattern_of(part)), content](const std::string& text) {
    return search.replaced(text, content);
  });
}

Normalizer::Ptr make_prepend(const Json& part) {
  auto prefix = field<std::string>(part, "prepend");
  return simple([prefix](const std::string& text) { return text.empty() ? text : prefix + text; });
}

Normalizer::Ptr make_lowercase(const Json&) {
  return simple([](const std::string& text) { return lower_case(text); });
}

Normalizer::Ptr make_strip(const Json& part) {
  const bool left = field<bool>(part, "strip_left"), right = field<bool>(part, "strip_right");
  return simple([left, right](std::string text) {
    text.erase(0, left ? leading_space(text) : 0);
    text.resize(text.size() - (right ? trailing_space(text) : 0));
    return text;
  });
}

/// The text with each character as `write(code, out)` has it.
template <typename Write>
std::string rewritten(std::string_view text, const Write& write) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
    write(code_point(text, at), out);
  }
  return out;
}

Normalizer::Ptr make_strip_accents(const Json&) {
  return simple([](const std::string& text) {
    return rewritten(text, [](char32_t code, std::string& out) {
      if (!is_mark(code)) {
        append_utf8(code, out);
      }
    });
  });
}

/// What SentencePiece's nmt rules do to control characters and unusual spaces.
Normalizer::Ptr make_nmt(const Json&) {
  return simple([](const std::string& text) {
    return rewritten(text, [](char32_t code, std::string& out) {
      const bool is_dropped = (code >= 1 && code <= 8) || code == 0xB ||
                              (code >= 0xE && code <= 0x1F) || code == 0x7F || code == 0x8F ||
                              code == 0x9F;
      const bool is_space = code == 9 || code == 0xA || code == 0xC || code == 0xD ||
                            code == 0x1680 || (code >= 0x200B && code <= 0x200F) ||
                            code == 0x2028 || code == 0x2029 || code == 0x2581 || code == 0xFEFF ||
                            code == kReplacement;
      if (!is_dropped) {
        append_utf8(is_space ? U' ' : code, out);
      }
    });
  });
}

Normalizer::Ptr make_bert(const Json& part) {
  const bool clean = field<bool>(part, "clean_text");
  const bool cjk = field<bool>(part, "handle_chinese_chars");
  const bool lower = field<bool>(part, "lowercase");
  const bool strip = field_or(part, "strip_accents", lower);
  return simple([=](std::string text) {
    text = rewritten(text, [&](char32_t code, std::string& out) {
      const bool is_line = code == '\t' || code == '\n' || code == '\r';
      if (clean && !is_line && (code == 0 || code == kReplacement || is_other(code))) {
        return;
      }
      if (clean && is_white_space(code)) {
        out += ' ';
      } else if (cjk && is_cjk(code)) {
        out += ' ';
        append_utf8(code, out);
        out += ' ';
      } else {
        append_utf8(code, out);
      }
    });
    if (strip) {
      text = rewritten(normalized(text, NormalForm::kNfd), [](char32_t code, std::string& out) {
        if (!is_nonspacing_mark(code)) {
          append_utf8(code, out);
        }
      });
    }
    return lower ? lower_case(text) : text;
  });
}

Normalizer::Ptr make_byte_level(const Json&) {
  return simple([](const std::string& text) { return to_byte_characters(text); });
}

/// SentencePiece's rules, one character and its marks after the other; rules on several characters
/// that begin none of them alone are out of reach, as in the reference.
Normalizer::Ptr make_precompiled(const Json& part) {
  const auto base64 = field<std::string>(part, "precompiled_charsmap");
  auto bytes = base64::decode(base64);
  auto map = bytes.ok() ? Charsmap::read(std::move(*bytes)) : std::nullopt;
  if (!map) {
    throw BadPart("precompiled_charsmap is not base64 of SentencePiece's rules");
  }
  return simple([map = std::move(*map)](const std::string& text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const auto rule = map.longest(std::string_view(text).substr(at));
      const size_t length = rule ? rule->length : utf8_length(text[at]);
      out += rule ? rule->becomes : std::string_view(text).substr(at, length);
      at += length;
    }
    return out;
  });
}

constexpr Kind<Normalizer::Ptr> kKinds[] = {
    {"BertNormalizer", make_bert},
    {"ByteLevel", make_byte_level},
    {"Lowercase", make_lowercase},
    {"NFC", make_form<NormalForm::kNfc>},
    {"NFD", make_form<NormalForm::kNfd>},
    {"NFKC", make_form<NormalForm::kNfkc>},
    {"NFKD", make_form<NormalForm::kNfkd>},
    {"Nmt", make_nmt},
    {"Precompiled", make_precompiled},
    {"Prepend", make_prepend},
    {"Replace", make_replace},
    {"Sequence", make_sequence},
    {"Strip", make_strip},
    {"StripAccents", make_strip_accents},
};

}  // namespace

Normalizer::Ptr make_normalizer(const Json& part) {
  return part.is_null() ? nullptr : make_part(kKinds, part, "normalizer");
}

}  // namespace tokenizers::detail
