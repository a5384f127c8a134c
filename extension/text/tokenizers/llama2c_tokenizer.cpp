// SPDX-License-Identifier: BSD-3-Clause
// Header of four int32, then score, length and bytes of each piece, all little-endian.
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/merge.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <pytorch/tokenizers/llama2c_tokenizer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

namespace tokenizers {

namespace detail {

/// Pieces by id, some of them alike ("<pad>"), and the rank of each by falling score.
class ScoredPieces {
 public:
  StringTable by_id;
  StringTable by_text;
  std::vector<float> scores;
  std::vector<uint32_t> ranks;
};

}  // namespace detail

using detail::kNone;
using detail::PairTable;
using detail::ScoredPieces;
using detail::Symbol;

namespace {

constexpr uint32_t kFirstByte = 3;  // ids of bytes follow <unk>, <s> and </s>

/// Reads from the front of a file's bytes.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool is_empty() const { return rest_.empty(); }
  bool int32(int32_t& out) {
    if (rest_.size() < 4) {
      return false;
    }
    uint32_t value = 0;
    for (int i = 3; i >= 0; --i) {
      value = value << 8 | static_cast<uint8_t>(rest_[i]);
    }
    out = static_cast<int32_t>(value);
    rest_.remove_prefix(4);
    return true;
  }
  bool float32(float& out) {
    int32_t bits = 0;
    if (!int32(bits)) {
      return false;
    }
    std::memcpy(&out, &bits, sizeof(out));
    return true;
  }
  bool text(int32_t size, std::string_view& out) {
    if (size < 0 || static_cast<size_t>(size) > rest_.size()) {
      return false;
    }
    out = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return true;
  }

 private:
  std::string_view rest_;
};

Error read_pieces(Cursor& file, int32_t count, ScoredPieces& out) {
  for (int32_t id = 0; id < count; ++id) {
    float score = 0;
    std::string_view piece = "<pad>";
    if (file.is_empty()) {
      // Missing records: the file ends where the padding of a model's vocabulary begins.
    } else {
      int32_t size = 0;
      TK_CHECK_OR_RETURN_ERROR(file.float32(score) && file.int32(size) && file.text(size, piece),
                               ParseFailure, "record %d of %d is cut short", id, count);
      TK_CHECK_OR_RETURN_ERROR(std::isfinite(score), ParseFailure,
                               "record %d: expected a finite score", id);
    }
    out.by_id.add(piece, static_cast<uint32_t>(id));
    if (out.by_text.find(piece) == kNone) {
      out.by_text.add(piece, static_cast<uint32_t>(id));
    }
    out.scores.push_back(score);
  }
  return Error::Ok;
}

void rank(ScoredPieces& out) {
  std::vector<float> falling(out.scores);
  std::sort(falling.begin(), falling.end(), std::greater<float>());
  for (const float score : out.scores) {
    const auto found =
        std::lower_bound(falling.begin(), falling.end(), score, std::greater<float>());
    out.ranks.push_back(static_cast<uint32_t>(found - falling.begin()));
  }
}

}  // namespace

Llama2cTokenizer::Llama2cTokenizer() = default;
Llama2cTokenizer::~Llama2cTokenizer() = default;

Error Llama2cTokenizer::load(const std::string& tokenizer_path) {
  if (initialized_) {
    TK_LOG(Info, "Tokenizer already initialized.");
    return Error::Ok;
  }
  std::string bytes;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::read_file(tokenizer_path, bytes));
  Cursor file(bytes);
  int32_t count = 0, bos = 0, eos = 0, longest = 0;
  TK_CHECK_OR_RETURN_ERROR(
      file.int32(count) && file.int32(bos) && file.int32(eos) && file.int32(longest), ParseFailure,
      "expected a header of 16 bytes, got %zu", bytes.size());
  // Records take 8 bytes; at most so many are missing as a vocabulary is padded with.
  constexpr size_t kMaxPadding = 1 << 20;
  TK_CHECK_OR_RETURN_ERROR(
      count > 0 && static_cast<size_t>(count) <= bytes.size() / 8 + kMaxPadding && bos >= 0 &&
          bos < count && eos >= 0 && eos < count && longest >= 0,
      ParseFailure, "expected a count of pieces and bos and eos below it, got %d, %d and %d", count,
      bos, eos);
  auto pieces = std::make_unique<ScoredPieces>();
  TK_CHECK_OK_OR_RETURN_ERROR(read_pieces(file, count, *pieces));
  rank(*pieces);
  bos_tok_ = static_cast<uint64_t>(bos);
  eos_tok_ = static_cast<uint64_t>(eos);
  vocab_size_ = count;
  pieces_ = std::move(pieces);
  initialized_ = true;
  return Error::Ok;
}

Result<std::vector<uint64_t>> Llama2cTokenizer::encode(const std::string& input, int8_t bos,
                                                       int8_t eos) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "encode before load");
  TK_CHECK_OR_RETURN_ERROR(!input.empty() && bos >= 0 && eos >= 0, EncodeFailure,
                           "expected a text and counts of 0 and up, got %zu bytes, bos %d, eos %d",
                           input.size(), bos, eos);
  std::string repaired;
  const std::string_view text = detail::as_utf8(input, repaired);
  detail::MergeScratch scratch;
  auto& symbols = scratch.symbols;
  const auto add = [&](uint32_t id) { symbols.push_back({id, 0, 1}); };
  if (const uint32_t space = pieces_->by_text.find(" "); space != kNone) {
    add(space);
  }
  for (size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, detail::utf8_length(text[at]));
    at += character.size();
    const uint32_t id = pieces_->by_text.find(character);
    if (id != kNone) {
      add(id);
      continue;
    }
    for (const char byte : character) {
      const uint32_t of_byte = kFirstByte + static_cast<uint8_t>(byte);
      TK_CHECK_OR_RETURN_ERROR(pieces_->by_id.has(of_byte), EncodeFailure,
                               "the vocabulary of %d has no id %u for a byte", vocab_size_,
                               of_byte);
      add(of_byte);
    }
  }
  std::string both;
  detail::merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) -> PairTable::Merge {
    both.assign(pieces_->by_id.text(left.id)).append(pieces_->by_id.text(right.id));
    const uint32_t id = pieces_->by_text.find(both);
    return id == kNone ? PairTable::Merge{kNone, kNone} : PairTable::Merge{pieces_->ranks[id], id};
  });
  std::vector<uint64_t> ids;
  for (const Symbol& symbol : symbols) {
    ids.push_back(symbol.id);
  }
  detail::surround(ids, bos_tok_, bos, eos_tok_, eos);
  return ids;
}

Result<std::string> Llama2cTokenizer::decode(uint64_t prev_token, uint64_t token, bool) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  auto piece = id_to_piece(token);
  if (!piece.ok()) {
    return piece;
  }
  if (prev_token == bos_tok_ && !piece->empty() && piece->front() == ' ') {
    piece->erase(0, 1);
  }
  if (const auto byte = detail::byte_of_piece(*piece)) {
    return std::string(1, static_cast<char>(*byte));
  }
  return piece;
}

Result<std::string> Llama2cTokenizer::id_to_piece(uint64_t token) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "id_to_piece before load");
  TK_CHECK_OR_RETURN_ERROR(pieces_->by_id.has(token), OutOfRange,
                           "expected an id below %d, got %llu", vocab_size_,
                           static_cast<unsigned long long>(token));
  return std::string(pieces_->by_id.text(static_cast<uint32_t>(token)));
}

Result<uint64_t> Llama2cTokenizer::piece_to_id(const std::string& text) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "piece_to_id before load");
  const uint32_t id = pieces_->by_text.find(text);
  TK_CHECK_OR_RETURN_ERROR(id != kNone, EncodeFailure, "no piece is %s", text.c_str());
  return uint64_t{id};
}

}  // namespace tokenizers
