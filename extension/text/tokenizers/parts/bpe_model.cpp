// SPDX-License-Identifier: BSD-3-Clause
// Symbols of a piece, then merges by rank.
#include <executorch/extension/text/tokenizers/parts/bpe_model.h>
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

namespace tokenizers::detail {

namespace {
const nlohmann::json& model_of(const TokenizerJson& file) {
  return part_of(file.rest, "model");
}
}  // namespace

bool BpeModel::reads_bytes(const nlohmann::json& part) {
  return field_or<std::string>(part, "continuing_subword_prefix", "").empty() &&
         field_or<std::string>(part, "end_of_word_suffix", "").empty() &&
         part_of(part, "unk_token").is_null() && !field_or(part, "byte_fallback", false);
}

BpeModel::BpeModel(const TokenizerJson& file, bool bytes)
    : bytes_(bytes),
      byte_fallback_(field_or(model_of(file), "byte_fallback", false)),
      fuses_unknown_(field_or(model_of(file), "fuse_unk", false)),
      ignores_merges_(field_or(model_of(file), "ignore_merges", false)),
      prefix_(field_or<std::string>(model_of(file), "continuing_subword_prefix", "")),
      suffix_(field_or<std::string>(model_of(file), "end_of_word_suffix", "")) {
  if (file.has_scores || !file.has_merges) {
    throw BadPart("a BPE model needs model.vocab with ids and model.merges");
  }
  if (field_or(model_of(file), "dropout", 0.0) != 0.0) {
    throw BadPart("model.dropout: only 0 or null gives the same ids each time");
  }
  take_vocabulary(file);
  take_merges(file);
  if (bytes_) {
    take_bytes();
  } else {
    unknown_ = unknown_id(model_of(file), "unk_token");
    for (int byte = 0; byte < 256; ++byte) {
      byte_ids_[byte] = vocabulary_.find(piece_of_byte(static_cast<uint8_t>(byte)));
    }
  }
  whole_ = std::make_unique<std::atomic<uint8_t>[]>(vocabulary_.end());
}

void BpeModel::take_merges(const TokenizerJson& file) {
  merges_.reserve(file.merges.size());
  std::string whole;
  for (size_t rank = 0; rank < file.merges.size(); ++rank) {
    const std::string_view left = file.text(file.merges[rank].left);
    const std::string_view right = file.text(file.merges[rank].right);
    whole.assign(left).append(right.substr(std::min(prefix_.size(), right.size())));
    const uint32_t ids[] = {vocabulary_.find(left), vocabulary_.find(right),
                            vocabulary_.find(whole)};
    for (const uint32_t id : ids) {
      if (id == kNone) {
        throw BadPart("model.merges[" + std::to_string(rank) + "]: \"" + std::string(left) +
                      "\" and \"" + std::string(right) +
                      "\" or the two together are not in model.vocab");
      }
    }
    merges_.add(ids[0], ids[1], {static_cast<uint32_t>(rank), ids[2]});
  }
}

void BpeModel::take_bytes() {
  by_bytes_.reserve(vocabulary_.size(), 0);
  for (uint32_t id = 0; id < vocabulary_.end(); ++id) {
    if (!vocabulary_.has(id)) {
      continue;
    }
    if (const auto bytes = from_byte_characters(vocabulary_.text(id))) {
      by_bytes_.add(*bytes, id);
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_ids_[byte] = by_bytes_.find({&c, 1});
  }
}

void BpeModel::begin_with_bytes(std::string_view piece, MergeScratch& scratch) const {
  for (uint32_t i = 0; i < piece.size(); ++i) {
    const uint32_t id = byte_ids_[static_cast<uint8_t>(piece[i])];
    if (id != kNone) {
      scratch.symbols.push_back({id, i, 1});
    }
  }
}

bool BpeModel::add_as_bytes(std::string_view text, MergeScratch& scratch) const {
  for (const char c : text) {
    if (byte_ids_[static_cast<uint8_t>(c)] == kNone) {
      return false;
    }
  }
  for (const char c : text) {
    scratch.symbols.push_back({byte_ids_[static_cast<uint8_t>(c)], 0, 1});
  }
  return true;
}

void BpeModel::begin_with_characters(std::string_view piece, MergeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  // As in the reference, an unknown character waits for the next that is known or unknown: one
  // written as bytes goes before it.
  uint32_t waiting = 0;
  const auto end_unknown = [&] {
    if (waiting != 0) {
      symbols.push_back({unknown_, 0, waiting});
    }
    waiting = 0;
  };
  std::string spelled;
  for (size_t at = 0; at < piece.size();) {
    const size_t size = utf8_length(piece[at]);
    std::string_view text = piece.substr(at, size);
    const bool is_first = at == 0;
    at += size;
    if ((!is_first && !prefix_.empty()) || (at == piece.size() && !suffix_.empty())) {
      spelled.assign(is_first ? "" : prefix_).append(text);
      spelled.append(at == piece.size() ? suffix_ : "");
      text = spelled;
    }
    const uint32_t id = vocabulary_.find(text);
    if (id != kNone) {
      end_unknown();
      symbols.push_back({id, 0, static_cast<uint32_t>(size)});
    } else if (byte_fallback_ && add_as_bytes(text, scratch)) {
      continue;
    } else if (unknown_ != kNone) {
      if (!fuses_unknown_) {
        end_unknown();
      }
      waiting += static_cast<uint32_t>(size);
    }
  }
  end_unknown();
}

void BpeModel::encode(std::string_view piece, std::vector<uint64_t>& out,
                      MergeScratch& scratch) const {
  const uint32_t known = (bytes_ ? by_bytes_ : vocabulary_).find(piece);
  if (known != kNone &&
      (ignores_merges_ || whole_[known].load(std::memory_order_relaxed) == kIsOnePiece)) {
    out.push_back(known);
    return;
  }
  auto& symbols = scratch.symbols;
  symbols.clear();
  if (bytes_) {
    begin_with_bytes(piece, scratch);
  } else {
    begin_with_characters(piece, scratch);
  }
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) {
    return merges_.find(left.id, right.id);
  });
  if (known != kNone) {
    const bool is_complete = symbols.size() == 1 && symbols[0].id == known;
    whole_[known].store(is_complete ? kIsOnePiece : kIsSplit, std::memory_order_relaxed);
  }
  for (const Symbol& symbol : symbols) {
    out.push_back(symbol.id);
  }
}

}  // namespace tokenizers::detail
