// SPDX-License-Identifier: BSD-3-Clause
// A piece that is a token is that token; any other is merged from its bytes.
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

namespace tokenizers::detail {

Error RankedBytes::add(std::string_view token, uint32_t rank) {
  TK_CHECK_OR_RETURN_ERROR(!ranks_.has(rank) && ranks_.find(token) == kNone, ParseFailure,
                           "rank %u: expected each rank and each token once", rank);
  ranks_.add(token, rank);
  return Error::Ok;
}

Error RankedBytes::add_special(const std::string& text, uint32_t id, bool is_found) {
  TK_CHECK_OR_RETURN_ERROR(!special_.has(id) && special_.find(text) == kNone, ParseFailure,
                           "special token %s (id %u): expected each once", text.c_str(), id);
  special_.add(text, id);
  if (is_found) {
    in_text_.add(text, id);
  }
  return Error::Ok;
}

bool RankedBytes::encode_piece(std::string_view piece, std::vector<uint64_t>& out,
                               MergeScratch& scratch) const {
  const uint32_t known = ranks_.find(piece);
  if (known != kNone) {
    out.push_back(uint64_t{base_} + known);
    return true;
  }
  auto& symbols = scratch.symbols;
  symbols.clear();
  for (uint32_t i = 0; i < piece.size(); ++i) {
    symbols.push_back({ranks_.find(piece.substr(i, 1)), i, 1});
  }
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) {
    const uint32_t rank = ranks_.find(piece.substr(left.start, left.size + right.size));
    return PairTable::Merge{rank, rank};
  });
  for (const Symbol& symbol : symbols) {
    if (symbol.id == kNone) {
      TK_LOG(Error, "the vocabulary has no token for the byte 0x%02x",
             static_cast<uint8_t>(piece[symbol.start]));
      return false;
    }
    out.push_back(uint64_t{base_} + symbol.id);
  }
  return true;
}

Error RankedBytes::encode_text(std::string_view text, std::vector<uint64_t>& out,
                               MergeScratch& scratch, std::vector<Match>& matches) const {
  matches.clear();
  if (pattern_.find_all(text, matches) != Error::Ok) {
    return Error::EncodeFailure;
  }
  for (const Match& match : matches) {  // what the pattern leaves out is dropped, as tiktoken does
    const std::string_view piece = text.substr(match.start, match.end - match.start);
    TK_CHECK_OR_RETURN_ERROR(!piece.empty(), EncodeFailure,
                             "expected a pattern that never matches an empty text, found that it "
                             "does at byte %zu of %zu; no token has 0 bytes",
                             match.start, text.size());
    if (!encode_piece(piece, out, scratch)) {
      return Error::EncodeFailure;
    }
  }
  return Error::Ok;
}

Result<std::vector<uint64_t>> RankedBytes::encode(std::string_view text) const {
  // Places in a text are 32 bits.
  TK_CHECK_OR_RETURN_ERROR(text.size() < kNone, EncodeFailure,
                           "expected a text below 4 GiB, got %zu bytes", text.size());
  std::string repaired;
  text = as_utf8(text, repaired);
  std::vector<uint64_t> ids;
  ids.reserve(text.size() / 3 + 8);
  MergeScratch scratch;
  std::vector<Match> matches;
  size_t done = 0;
  while (done < text.size()) {
    const auto special = in_text_.find(text, done);
    const size_t end = special ? special->match.start : text.size();
    TK_CHECK_OK_OR_RETURN_ERROR(encode_text(text.substr(done, end - done), ids, scratch, matches));
    if (!special) {
      break;
    }
    ids.push_back(special->value);
    done = special->match.end;
  }
  return ids;
}

std::optional<std::string> RankedBytes::bytes(uint64_t id) const {
  if (special_.has(id)) {
    return std::string(special_.text(static_cast<uint32_t>(id)));
  }
  if (id < base_ || !ranks_.has(id - base_)) {
    return std::nullopt;
  }
  return std::string(ranks_.text(static_cast<uint32_t>(id - base_)));
}

std::optional<uint64_t> RankedBytes::id(std::string_view piece) const {
  const uint32_t rank = ranks_.find(piece);
  if (rank != kNone) {
    return uint64_t{base_} + rank;
  }
  return special(piece);
}

std::optional<uint64_t> RankedBytes::special(std::string_view text) const {
  const uint32_t id = special_.find(text);
  return id == kNone ? std::nullopt : std::optional<uint64_t>(id);
}

void surround(std::vector<uint64_t>& ids, uint64_t bos, int8_t num_bos, uint64_t eos,
              int8_t num_eos) {
  ids.insert(ids.begin(), num_bos > 0 ? num_bos : 0, bos);
  ids.insert(ids.end(), num_eos > 0 ? num_eos : 0, eos);
}

}  // namespace tokenizers::detail
