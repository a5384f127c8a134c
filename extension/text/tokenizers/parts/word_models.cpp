// SPDX-License-Identifier: BSD-3-Clause
// What the reference does with each piece, unknown ones included.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/search.h>
#include <executorch/extension/text/tokenizers/parts/word_models.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <executorch/extension/text/tokenizers/text/viterbi.h>

#include <algorithm>
#include <cmath>

namespace tokenizers::detail {

namespace {

constexpr double kUnknownPenalty = 10;

const nlohmann::json& model_of(const TokenizerJson& file) {
  return part_of(file.rest, "model");
}

[[noreturn]] void lacks_unknown() {
  throw MatchFailure("a piece is not in the vocabulary, which has no unknown token");
}

}  // namespace

UnigramModel::UnigramModel(const TokenizerJson& file)
    : byte_fallback_(field_or(model_of(file), "byte_fallback", false)) {
  if (!file.has_scores) {
    throw BadPart("a Unigram model needs model.vocab as [piece, score] pairs");
  }
  take_vocabulary(file);
  std::vector<PrefixTrie::Entry> entries;
  entries.reserve(file.vocabulary.size());
  double lowest = INFINITY;
  for (const TokenizerJson::Entry& entry : file.vocabulary) {
    if (!std::isfinite(entry.score)) {
      throw BadPart("model.vocab: a score that is not finite");
    }
    entries.push_back({file.text(entry.piece), static_cast<uint32_t>(entry.id)});
    scores_.push_back(entry.score);
    lowest = std::min(lowest, entry.score);
  }
  trie_ = PrefixTrie(std::move(entries));
  unknown_score_ = lowest - kUnknownPenalty;
  const auto unknown = field_or<int64_t>(model_of(file), "unk_id", -1);
  if (unknown >= static_cast<int64_t>(scores_.size())) {
    throw BadPart("unk_id " + std::to_string(unknown) + " is not in model.vocab");
  }
  unknown_ = unknown < 0 ? kNone : static_cast<uint32_t>(unknown);
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids_[byte] = vocabulary_.find(piece_of_byte(static_cast<uint8_t>(byte)));
  }
}

void UnigramModel::encode_unknown(std::string_view text, std::vector<uint64_t>& out) const {
  const uint32_t known =
      vocabulary_.find(text);  // several unknown characters may be a piece together
  if (known != kNone) {
    out.push_back(known);
    return;
  }
  const bool has_bytes = byte_fallback_ && std::all_of(text.begin(), text.end(), [&](char c) {
                           return byte_ids_[static_cast<uint8_t>(c)] != kNone;
                         });
  if (has_bytes) {
    for (const char c : text) {
      out.push_back(byte_ids_[static_cast<uint8_t>(c)]);
    }
    return;
  }
  out.push_back(unknown_);
}

void UnigramModel::encode(std::string_view piece, std::vector<uint64_t>& out, MergeScratch&) const {
  const auto cut = best_cut<double>(piece, trie_, unknown_score_,
                                    [&](uint32_t id, size_t) { return scores_[id]; });
  std::string_view run;  // of unknown characters
  for (const CutPiece& part : cut) {
    const bool is_unknown = part.id == kNone || part.id == unknown_;
    if (part.id == kNone && unknown_ == kNone) {
      lacks_unknown();
    }
    if (is_unknown) {
      run = run.empty() ? part.text : std::string_view(run.data(), run.size() + part.text.size());
      continue;
    }
    if (!run.empty()) {
      encode_unknown(run, out);
      run = {};
    }
    out.push_back(part.id);
  }
  if (!run.empty()) {
    encode_unknown(run, out);
  }
}

WordPieceModel::WordPieceModel(const TokenizerJson& file)
    : prefix_(field<std::string>(model_of(file), "continuing_subword_prefix")),
      longest_(field<size_t>(model_of(file), "max_input_chars_per_word")) {
  if (file.has_scores) {
    throw BadPart("a WordPiece model needs model.vocab with ids");
  }
  take_vocabulary(file);
  unknown_ = vocabulary_.find(field<std::string>(model_of(file), "unk_token"));
}

void WordPieceModel::encode(std::string_view piece, std::vector<uint64_t>& out,
                            MergeScratch&) const {
  const size_t before = out.size();
  const auto give_up = [&] {
    if (unknown_ == kNone) {
      lacks_unknown();
    }
    out.resize(before);
    out.push_back(unknown_);
  };
  const auto characters = static_cast<size_t>(
      std::count_if(piece.begin(), piece.end(), [](char c) { return !is_continuation(c); }));
  if (characters > longest_) {
    give_up();
    return;
  }
  std::string word;
  for (size_t start = 0; start < piece.size();) {
    size_t end = piece.size();
    uint32_t id = kNone;
    for (; end > start; end = previous_character(piece, end)) {
      word.assign(start > 0 ? prefix_ : "").append(piece.substr(start, end - start));
      id = vocabulary_.find(word);
      if (id != kNone) {
        break;
      }
    }
    if (id == kNone) {
      give_up();
      return;
    }
    out.push_back(id);
    start = end;
  }
}

WordLevelModel::WordLevelModel(const TokenizerJson& file) {
  if (file.has_scores) {
    throw BadPart("a WordLevel model needs model.vocab with ids");
  }
  take_vocabulary(file);
  unknown_ = vocabulary_.find(field<std::string>(model_of(file), "unk_token"));
}

void WordLevelModel::encode(std::string_view piece, std::vector<uint64_t>& out,
                            MergeScratch&) const {
  const uint32_t known = vocabulary_.find(piece);
  if (known == kNone && unknown_ == kNone) {
    lacks_unknown();
  }
  out.push_back(known != kNone ? known : unknown_);
}

}  // namespace tokenizers::detail
