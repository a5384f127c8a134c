// SPDX-License-Identifier: BSD-3-Clause
// The messages of sentencepiece_model.proto by field numbers, then the reference's algorithms.
#include <executorch/extension/text/tokenizers/parts/sentencepiece_model.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/protobuf.h>
#include <executorch/extension/text/tokenizers/text/replace.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <executorch/extension/text/tokenizers/text/viterbi.h>
#include <pytorch/tokenizers/result.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace tokenizers::detail {

namespace {

using Field = ProtobufReader::Field;

constexpr std::string_view kSpace = "\u2581";
// What a unigram model takes off the lowest score for a character that it lacks.
constexpr float kUnknownPenalty = 10;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Numbers that rise as finite scores fall; equal for equal ones, never kNone.
uint32_t rank_of(float score) {
  score += 0.0f;  // -0 is 0
  uint32_t bits = 0;
  std::memcpy(&bits, &score, sizeof(bits));
  constexpr uint32_t kSign = 0x80000000;
  return (bits & kSign) != 0 ? bits : ~(bits | kSign);
}

bool can_merge_to(SentencePieceModel::Type type) {
  return type == SentencePieceModel::Type::kNormal || type == SentencePieceModel::Type::kUnused ||
         type == SentencePieceModel::Type::kUserDefined;
}

/// How many messages of a piece below 128 bytes the file begins with, as a rule all, and their
/// size.
std::pair<size_t, size_t> first_pieces(std::string_view bytes) {
  constexpr uint8_t kPiece = 1 << 3 | 2;
  size_t count = 0, at = 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  for (; at + 1 < bytes.size() && byte(at) == kPiece && byte(at + 1) < 0x80; ++count) {
    at += 2 + size_t{byte(at + 1)};
  }
  return {count, std::min(at, bytes.size())};
}

/// Spaces and what follows them, up to the next space.
size_t end_of_word(std::string_view text, size_t at) {
  while (starts_with(text.substr(at), kSpace)) {
    at += kSpace.size();
  }
  const size_t end = text.find(kSpace, at);
  return end == std::string_view::npos ? text.size() : end;
}

/// Calls take(field) for each field; ParseFailure where the bytes are no message.
template <typename Take>
Error each_field(std::string_view message, const char* name, const Take& take) {
  ProtobufReader reader(message);
  for (Field field; reader.next(field);) {
    TK_CHECK_OK_OR_RETURN_ERROR(take(field));
  }
  TK_CHECK_OR_RETURN_ERROR(!reader.is_bad(), ParseFailure, "SentencePiece: %s is cut or corrupted",
                           name);
  return Error::Ok;
}

}  // namespace

Error SentencePieceModel::read_piece(std::string_view message) {
  std::string_view piece;
  float score = 0;
  uint64_t type = static_cast<uint64_t>(Type::kNormal);
  TK_CHECK_OK_OR_RETURN_ERROR(each_field(message, "a piece", [&](const Field& field) {
    if (field.number == 1) {
      piece = field.bytes;
    } else if (field.number == 2) {
      score = field.as_float();
    } else if (field.number == 3) {
      type = field.value;
    }
    return Error::Ok;
  }));
  const size_t id = types_.size();
  TK_CHECK_OR_RETURN_ERROR(
      type >= 1 && type <= 6 && std::isfinite(score) && !piece.empty(), ParseFailure,
      "SentencePiece: piece %zu: expected a text, a type from 1 to 6 and a "
      "finite score, got %zu bytes, %llu and %g",
      id, piece.size(), static_cast<unsigned long long>(type), static_cast<double>(score));
  pieces_.add(piece, static_cast<uint32_t>(id));
  TK_CHECK_OR_RETURN_ERROR(is_utf8(piece) && pieces_.size() == id + 1, ParseFailure,
                           "SentencePiece: piece %zu: expected UTF-8, and each piece once", id);
  scores_.push_back(score);
  types_.push_back(static_cast<Type>(type));
  return Error::Ok;
}

Error SentencePieceModel::read_trainer(std::string_view message) {
  return each_field(message, "trainer_spec", [&](const Field& field) {
    switch (field.number) {
      case 3:
        is_known_algorithm_ = field.value == 1 || field.value == 2;
        algorithm_ = static_cast<Algorithm>(field.value);
        break;
      case 24:
        space_is_suffix_ = field.value != 0;
        break;
      case 35:
        byte_fallback_ = field.value != 0;
        break;
      case 44:
        unknown_surface_ = field.bytes;
        break;
      case 46:
        bos_piece_ = field.bytes;
        break;
      case 47:
        eos_piece_ = field.bytes;
        break;
      default:
        break;
    }
    return Error::Ok;
  });
}

Error SentencePieceModel::read_normalizer(std::string_view message) {
  return each_field(message, "normalizer_spec", [&](const Field& field) {
    switch (field.number) {
      case 2:
        if (!field.bytes.empty()) {
          auto map = Charsmap::read(std::string(field.bytes));
          TK_CHECK_OR_RETURN_ERROR(map.has_value(), ParseFailure,
                                   "SentencePiece: precompiled_charsmap is corrupted");
          charsmap_ = std::move(*map);
        }
        break;
      case 3:
        adds_prefix_ = field.value != 0;
        break;
      case 4:
        removes_spaces_ = field.value != 0;
        break;
      case 5:
        escapes_spaces_ = field.value != 0;
        break;
      default:
        break;
    }
    return Error::Ok;
  });
}

Error SentencePieceModel::read(std::string_view bytes) {
  const auto [num_pieces, num_bytes] = first_pieces(bytes);
  pieces_.reserve(num_pieces, num_bytes);
  scores_.reserve(num_pieces);
  types_.reserve(num_pieces);
  TK_CHECK_OK_OR_RETURN_ERROR(each_field(bytes, "the model", [&](const Field& field) {
    TK_CHECK_OR_RETURN_ERROR(field.is_bytes || field.number > 5, ParseFailure,
                             "SentencePiece: field %u is no message", field.number);
    switch (field.number) {
      case 1:
        return read_piece(field.bytes);
      case 2:
        return read_trainer(field.bytes);
      case 3:
        return read_normalizer(field.bytes);
      default:
        return Error::Ok;
    }
  }));
  return finish();
}

Error SentencePieceModel::finish() {
  TK_CHECK_OR_RETURN_ERROR(is_known_algorithm_, ParseFailure,
                           "SentencePiece: expected a model of type unigram (1) or BPE (2), got %d",
                           static_cast<int>(algorithm_));
  byte_ids_.fill(kNone);
  const bool is_unigram = algorithm_ == Algorithm::kUnigram;
  std::vector<PrefixTrie::Entry> entries;
  entries.reserve(is_unigram ? types_.size() : 0);
  bool is_first = true;
  for (uint32_t id = 0; id < types_.size(); ++id) {
    switch (types_[id]) {
      case Type::kUnknown:
        TK_CHECK_OR_RETURN_ERROR(unknown_ == kNone, ParseFailure,
                                 "SentencePiece: pieces %u and %u are both unknown", unknown_, id);
        unknown_ = id;
        break;
      case Type::kByte: {
        const auto byte = byte_of_piece(piece(id));
        TK_CHECK_OR_RETURN_ERROR(byte.has_value() && byte_fallback_, ParseFailure,
                                 "SentencePiece: piece %u: expected <0xHH> for a byte, and "
                                 "byte_fallback",
                                 id);
        byte_ids_[*byte] = id;
        break;
      }
      case Type::kNormal:
        lowest_ = is_first ? scores_[id] : std::min(lowest_, scores_[id]);
        is_first = false;
        if (is_unigram) {
          entries.push_back({piece(id), id});
        }
        break;
      case Type::kUserDefined:
        user_defined_.add(piece(id), id);
        if (is_unigram) {
          entries.push_back({piece(id), id});
        }
        break;
      case Type::kControl:
      case Type::kUnused:
        break;
    }
  }
  TK_CHECK_OR_RETURN_ERROR(unknown_ != kNone, ParseFailure,
                           "SentencePiece: expected one unknown piece, found none");
  if (byte_fallback_) {
    for (int byte = 0; byte < 256; ++byte) {
      TK_CHECK_OR_RETURN_ERROR(byte_ids_[byte] != kNone, ParseFailure,
                               "SentencePiece: byte_fallback without a piece for byte 0x%02x",
                               byte);
    }
  }
  trie_ = PrefixTrie(std::move(entries));
  finish_texts();
  return Error::Ok;
}

void SentencePieceModel::finish_texts() {
  for (int byte = 0; byte < 0x80; ++byte) {
    const auto first = static_cast<uint8_t>(byte);
    if (!user_defined_.has_first(first) && !charsmap_.has_ascii_rule_of(first)) {
      stays_[byte] = charsmap_.has_rule_of(first) ? Stays::kBeforeAscii : Stays::kAlways;
    }
  }
  if (algorithm_ == Algorithm::kUnigram) {
    cut_scores_ = scores_;
    for (uint32_t id = 0; id < types_.size(); ++id) {
      if (types_[id] == Type::kUserDefined) {
        cut_scores_[id] = 0.1f * static_cast<float>(piece(id).size() - 1);
      }
    }
    return;
  }
  // What is taken apart again depends on all merges of a text.
  has_words_ = std::find(types_.begin(), types_.end(), Type::kUnused) == types_.end();
  for (uint32_t id = 0; has_words_ && id < types_.size(); ++id) {
    has_words_ = !can_merge_to(types_[id]) || end_of_word(piece(id), 0) == piece(id).size();
  }
  whole_ = std::make_unique<std::atomic<uint8_t>[]>(types_.size());
}

uint32_t SentencePieceModel::control(const std::string& name) const {
  const uint32_t id = pieces_.find(name);
  return id != kNone && types_[id] == Type::kControl ? id : kNone;
}

bool SentencePieceModel::stays(std::string_view text) const {
  const Stays found = stays_[static_cast<uint8_t>(text.front())];
  return found == Stays::kAlways || (found == Stays::kBeforeAscii &&
                                     (text.size() == 1 || static_cast<uint8_t>(text[1]) < 0x80));
}

SentencePieceModel::Normalized SentencePieceModel::normalize_prefix(std::string_view text) const {
  if (stays(text)) {
    return {text.substr(0, 1), 1};
  }
  if (const auto symbol = user_defined_.longest(text, 0)) {
    return {text.substr(0, symbol->match.end), symbol->match.end};
  }
  if (const auto rule = charsmap_.longest(text)) {
    return {rule->becomes, rule->length};
  }
  const Utf8Step step = utf8_step(text, 0);
  if (step.kind != Utf8Step::kComplete) {
    return {"\uFFFD", 1};
  }
  return {text.substr(0, step.length), step.length};
}

std::string SentencePieceModel::normalize(std::string_view text) const {
  std::string out;
  if (removes_spaces_) {
    while (!text.empty()) {
      const Normalized prefix = normalize_prefix(text);
      if (prefix.text != " ") {
        break;
      }
      text.remove_prefix(prefix.length);
    }
  }
  if (text.empty()) {
    return out;
  }
  const std::string_view space = escapes_spaces_ ? kSpace : " ";
  if (adds_prefix_ && !space_is_suffix_) {
    out += space;
  }
  bool after_space = removes_spaces_;
  while (!text.empty()) {
    Normalized prefix = normalize_prefix(text);
    text.remove_prefix(prefix.length);
    while (after_space && starts_with(prefix.text, " ")) {
      prefix.text.remove_prefix(1);
    }
    if (!prefix.text.empty()) {
      for (const char c : prefix.text) {
        if (c == ' ') {
          out += space;
        } else {
          out += c;
        }
      }
      after_space = prefix.text.back() == ' ';
    }
    after_space = after_space && removes_spaces_;
  }
  while (removes_spaces_ && ends_with(out, space)) {
    out.resize(out.size() - space.size());
  }
  if (adds_prefix_ && space_is_suffix_) {
    out += space;
  }
  return out;
}

SentencePieceModel::Cut SentencePieceModel::cut_bpe(std::string_view text) const {
  MergeScratch scratch;
  Cut cut;
  cut.reserve(text.size() / 3);
  if (!has_words_) {
    merge(text, scratch, cut);
    return cut;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const uint32_t id = pieces_.find(word);
    if (id != kNone && whole_[id].load(std::memory_order_relaxed) == kIsOnePiece) {
      cut.emplace_back(word, id);
      continue;
    }
    const size_t before = cut.size();
    merge(word, scratch, cut);
    if (id != kNone) {
      const uint8_t found = cut.size() == before + 1 ? kIsOnePiece : kIsSplit;
      whole_[id].store(found, std::memory_order_relaxed);
    }
  }
  return cut;
}

void SentencePieceModel::merge(std::string_view text, MergeScratch& scratch, Cut& out) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  constexpr uint32_t kFrozen = kNone - 1;  // a user-defined symbol merges with nothing
  for (size_t at = 0; at < text.size();) {
    const auto frozen = user_defined_.longest(text, at);
    const size_t end =
        frozen ? frozen->match.end : std::min(text.size(), at + utf8_length(text[at]));
    symbols.push_back(
        {frozen ? kFrozen : 0, static_cast<uint32_t>(at), static_cast<uint32_t>(end - at)});
    at = end;
  }
  // A pair that merges to an unused piece is taken apart again in the end, so it is remembered.
  std::unordered_map<std::string_view, size_t> parts;
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) -> PairTable::Merge {
    if (left.id == kFrozen || right.id == kFrozen) {
      return {kNone, kNone};
    }
    const std::string_view both = text.substr(left.start, left.size + right.size);
    const uint32_t id = pieces_.find(both);
    if (id == kNone || !can_merge_to(types_[id])) {
      return {kNone, kNone};
    }
    if (types_[id] == Type::kUnused) {
      parts[both] = left.size;
    }
    return {rank_of(scores_[id]), 0};
  });
  if (parts.empty()) {
    for (const Symbol& symbol : symbols) {
      const std::string_view piece = text.substr(symbol.start, symbol.size);
      const uint32_t id = pieces_.find(piece);
      out.emplace_back(piece, id == kNone ? unknown_ : id);
    }
    return;
  }
  std::vector<std::string_view> left;
  for (const Symbol& symbol : symbols) {
    left.assign(1, text.substr(symbol.start, symbol.size));
    while (!left.empty()) {
      const std::string_view piece = left.back();
      left.pop_back();
      const uint32_t id = pieces_.find(piece);
      const auto apart = parts.find(piece);
      if (id != kNone && types_[id] == Type::kUnused && apart != parts.end()) {
        left.push_back(piece.substr(apart->second));
        left.push_back(piece.substr(0, apart->second));
      } else {
        out.emplace_back(piece, id == kNone ? unknown_ : id);
      }
    }
  }
}

SentencePieceModel::Cut SentencePieceModel::cut_unigram(std::string_view text) const {
  const auto score_of = [&](uint32_t id, size_t) { return cut_scores_[id]; };
  Cut cut;
  cut.reserve(text.size() / 3);
  for (const CutPiece& piece : best_cut<float>(text, trie_, lowest_ - kUnknownPenalty, score_of)) {
    cut.emplace_back(piece.text, piece.id == kNone ? unknown_ : piece.id);
  }
  return cut;
}

std::vector<uint64_t> SentencePieceModel::encode(std::string_view text) const {
  const std::string normalized = normalize(text);
  const Cut cut = algorithm_ == Algorithm::kBpe ? cut_bpe(normalized) : cut_unigram(normalized);
  std::vector<uint64_t> ids;
  ids.reserve(cut.size());
  bool after_unknown = false;
  for (const auto& [piece, id] : cut) {
    const bool is_unknown = id == unknown_;
    if (is_unknown && byte_fallback_) {
      for (const char c : piece) {
        ids.push_back(byte_ids_[static_cast<uint8_t>(c)]);
      }
    } else if (!is_unknown || !after_unknown) {
      ids.push_back(id);
    }
    after_unknown = is_unknown;
  }
  return ids;
}

std::string SentencePieceModel::decode(const std::vector<uint64_t>& ids) const {
  std::string text, bytes;
  const auto write_bytes = [&] {
    for (size_t at = 0; at < bytes.size();) {
      const Utf8Step step = utf8_step(bytes, at);
      const bool is_complete = step.kind == Utf8Step::kComplete;
      text += is_complete ? bytes.substr(at, step.length) : "\uFFFD";
      at += is_complete ? step.length : 1;
    }
    bytes.clear();
  };
  bool is_beginning = true;
  for (const uint64_t id : ids) {
    if (types_[id] == Type::kByte) {
      bytes += static_cast<char>(*byte_of_piece(piece(id)));
      continue;
    }
    write_bytes();
    if (types_[id] == Type::kControl) {
      continue;
    }
    std::string_view piece = this->piece(id);
    if (types_[id] == Type::kUnknown) {
      piece = unknown_surface_;
    } else if (is_beginning && text.empty() && (adds_prefix_ || removes_spaces_) &&
               !space_is_suffix_) {
      while (starts_with(piece, kSpace)) {
        piece.remove_prefix(kSpace.size());
        is_beginning = false;
        if (!removes_spaces_) {
          break;
        }
        is_beginning = true;
      }
    }
    append_replaced(piece, kSpace, " ", text);
  }
  write_bytes();
  return text;
}

}  // namespace tokenizers::detail
