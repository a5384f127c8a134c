// SPDX-License-Identifier: BSD-3-Clause
// One small class for each kind of decoder, and the table of their names.
#include <executorch/extension/text/tokenizers/parts/decoder.h>
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/search.h>
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/replace.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <utility>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::string>;

/// A decoder that is a function of the list.
template <typename Function>
class Simple : public Decoder {
 public:
  explicit Simple(Function function) : function_(std::move(function)) {}
  void decode(Pieces& pieces, bool) const override { function_(pieces); }

 private:
  Function function_;
};

template <typename Function>
Decoder::Ptr simple(Function function) {
  return std::make_unique<Simple<Function>>(std::move(function));
}

std::string joined(const Pieces& pieces) {
  std::string out;
  for (const std::string& piece : pieces) {
    out += piece;
  }
  return out;
}

class ByteLevel : public Decoder {
 public:
  void decode(Pieces& pieces, bool) const override {
    for (std::string& piece : pieces) {
      piece = from_byte_characters(piece).value_or(piece);
    }
  }
  bool reads_bytes() const override { return true; }
};

Decoder::Ptr make_byte_level(const Json&) {
  return std::make_unique<ByteLevel>();
}

class Sequence : public Decoder {
 public:
  explicit Sequence(std::vector<Decoder::Ptr> steps) : steps_(std::move(steps)) {}
  void decode(Pieces& pieces, bool is_part) const override {
    for (const auto& step : steps_) {
      step->decode(pieces, is_part);
    }
  }
  bool reads_bytes() const override { return steps_.size() == 1 && steps_[0]->reads_bytes(); }

 private:
  std::vector<Decoder::Ptr> steps_;
};

Decoder::Ptr make_sequence(const Json& part) {
  std::vector<Decoder::Ptr> steps;
  for (const Json& step : field<Json>(part, "decoders")) {
    steps.push_back(make_decoder(step));
  }
  return std::make_unique<Sequence>(std::move(steps));
}

Decoder::Ptr make_replace(const Json& part) {
  auto content = field<std::string>(part, "content");
  return simple([search = Search(pattern_of(part)), content](Pieces& pieces) {
    for (std::string& piece : pieces) {
      if (is_utf8(piece)) {
        piece = search.replaced(piece, content);
      }
    }
  });
}

/// A run of bytes is one text; where it is not UTF-8, each of its bytes is U+FFFD, as in the
/// reference.
class ByteFallback : public Decoder {
 public:
  void decode(Pieces& pieces, bool is_part) const override {
    Pieces out;
    out.reserve(pieces.size());
    std::string run;
    const auto end_run = [&] {
      if (is_part || is_utf8(run)) {
        out.push_back(run);
      } else {
        out.insert(out.end(), run.size(), "\uFFFD");
      }
      run.clear();
    };
    for (std::string& piece : pieces) {
      if (const auto byte = byte_of_piece(piece)) {
        run += static_cast<char>(*byte);
        continue;
      }
      if (!run.empty()) {
        end_run();
      }
      out.push_back(std::move(piece));
    }
    if (!run.empty()) {
      end_run();
    }
    pieces = std::move(out);
  }
};

Decoder::Ptr make_byte_fallback(const Json&) {
  return std::make_unique<ByteFallback>();
}

Decoder::Ptr make_fuse(const Json&) {
  return simple([](Pieces& pieces) { pieces = {joined(pieces)}; });
}

Decoder::Ptr make_strip(const Json& part) {
  const auto content = field_or<std::string>(part, "content", " ");
  const auto start = field_or<size_t>(part, "start", 0), stop = field_or<size_t>(part, "stop", 0);
  return simple([=](Pieces& pieces) {
    for (std::string& piece : pieces) {
      const auto cut = [&](size_t most, bool at_end) {
        for (size_t i = 0; i < most && !content.empty() && piece.size() >= content.size(); ++i) {
          const size_t at = at_end ? piece.size() - content.size() : 0;
          if (piece.compare(at, content.size(), content) != 0) {
            break;
          }
          piece.erase(at, content.size());
        }
      };
      cut(start, false);
      cut(stop, true);
    }
  });
}

Decoder::Ptr make_metaspace(const Json& part) {
  const auto replacement = field_or<std::string>(part, "replacement", "\u2581");
  const bool prepends =
      field_or<std::string>(part, "prepend_scheme",
                            field_or(part, "add_prefix_space", true) ? "always" : "never") !=
      "never";
  return simple([=](Pieces& pieces) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = replaced(pieces[i], replacement, i == 0 && prepends ? "" : " ");
    }
  });
}

/// Undoes the spaces that splitting put around punctuation and English contractions.
std::string cleaned_up(std::string text) {
  constexpr std::pair<const char*, const char*> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) {
    text = replaced(text, from, to);
  }
  return text;
}

Decoder::Ptr make_word_piece(const Json& part) {
  const auto prefix = field_or<std::string>(part, "prefix", "##");
  const bool cleans = field_or(part, "cleanup", true);
  return simple([=](Pieces& pieces) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0 && pieces[i].compare(0, prefix.size(), prefix) == 0) {
        pieces[i].erase(0, prefix.size());
      } else if (i > 0) {
        pieces[i].insert(0, " ");
      }
      if (cleans) {
        pieces[i] = cleaned_up(std::move(pieces[i]));
      }
    }
  });
}

Decoder::Ptr make_bpe(const Json& part) {
  const auto suffix = field_or<std::string>(part, "suffix", "</w>");
  return simple([=](Pieces& pieces) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = replaced(pieces[i], suffix, i + 1 == pieces.size() ? "" : " ");
    }
  });
}

Decoder::Ptr make_ctc(const Json& part) {
  const auto pad = field_or<std::string>(part, "pad_token", "<pad>");
  const auto delimiter = field_or<std::string>(part, "word_delimiter_token", "|");
  const bool cleans = field_or(part, "cleanup", true);
  return simple([=](Pieces& pieces) {
    Pieces out;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0 && pieces[i] == pieces[i - 1]) {
        continue;
      }
      std::string text = replaced(pieces[i], pad, "");
      if (cleans) {
        text = replaced(cleaned_up(std::move(text)), delimiter, " ");
      }
      if (!text.empty()) {
        out.push_back(std::move(text));
      }
    }
    pieces = std::move(out);
  });
}

constexpr Kind<Decoder::Ptr> kKinds[] = {
    {"BPEDecoder", make_bpe},
    {"ByteFallback", make_byte_fallback},
    {"ByteLevel", make_byte_level},
    {"CTC", make_ctc},
    {"Fuse", make_fuse},
    {"Metaspace", make_metaspace},
    {"Replace", make_replace},
    {"Sequence", make_sequence},
    {"Strip", make_strip},
    {"WordPiece", make_word_piece},
};

}  // namespace

Decoder::Ptr make_decoder(const Json& part) {
  return part.is_null() ? nullptr : make_part(kKinds, part, "decoder");
}

}  // namespace tokenizers::detail
