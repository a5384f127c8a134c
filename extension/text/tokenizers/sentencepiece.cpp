// SPDX-License-Identifier: BSD-3-Clause
// The interface around a SentencePiece model.
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <executorch/extension/text/tokenizers/parts/sentencepiece_model.h>
#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <executorch/extension/text/tokenizers/text/fallback.h>
#include <executorch/extension/text/tokenizers/text/replace.h>
#include <pytorch/tokenizers/sentencepiece.h>

#include <algorithm>
#include <utility>

namespace tokenizers {

using detail::SentencePieceModel;

SPTokenizer::SPTokenizer() = default;
SPTokenizer::~SPTokenizer() = default;

Error SPTokenizer::load(const std::string& tokenizer_path) {
  if (initialized_) {
    TK_LOG(Info, "Tokenizer already initialized.");
    return Error::Ok;
  }
  std::string bytes;
  TK_CHECK_OK_OR_RETURN_ERROR(detail::read_file(tokenizer_path, bytes));
  auto model = std::make_unique<SentencePieceModel>();
  TK_CHECK_OK_OR_RETURN_ERROR(model->read(bytes));
  const auto or_zero = [](uint32_t id) { return id == detail::kNone ? 0 : id; };
  bos_tok_ = or_zero(model->control(model->bos_piece()));
  eos_tok_ = or_zero(model->control(model->eos_piece()));
  vocab_size_ = static_cast<int32_t>(model->size());
  model_ = std::move(model);
  initialized_ = true;
  return Error::Ok;
}

Result<std::vector<uint64_t>> SPTokenizer::encode(const std::string& input, int8_t bos,
                                                  int8_t eos) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "encode before load");
  TK_CHECK_OR_RETURN_ERROR(input.size() < size_t{1} << 28, EncodeFailure,
                           "expected a text below 256 MiB, got %zu bytes", input.size());
  std::vector<uint64_t> ids = model_->encode(input);
  detail::surround(ids, bos_tok_, bos, eos_tok_, eos);
  return ids;
}

Result<std::string> SPTokenizer::decode(uint64_t prev_token, uint64_t token,
                                        bool skip_special_tokens) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  auto piece = id_to_piece(token);
  if (!piece.ok()) {
    return piece;
  }
  if (model_->type(token) == SentencePieceModel::Type::kControl) {
    return std::string(skip_special_tokens ? "" : " ");
  }
  if (model_->type(token) == SentencePieceModel::Type::kByte) {
    return std::string(1, static_cast<char>(*detail::byte_of_piece(*piece)));
  }
  std::string text = detail::replaced(*piece, "\u2581", " ");
  if (prev_token == bos_tok_ && !text.empty() && text.front() == ' ') {
    text.erase(0, 1);
  }
  return text;
}

Result<std::string> SPTokenizer::decode(const std::vector<uint64_t>& tokens) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  const bool are_known =
      std::all_of(tokens.begin(), tokens.end(), [&](uint64_t id) { return id < model_->size(); });
  TK_CHECK_OR_RETURN_ERROR(are_known, DecodeFailure, "expected ids below %d", vocab_size_);
  return model_->decode(tokens);
}

Result<std::string> SPTokenizer::id_to_piece(uint64_t token) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "id_to_piece before load");
  TK_CHECK_OR_RETURN_ERROR(token < model_->size(), DecodeFailure,
                           "expected an id below %d, got %llu", vocab_size_,
                           static_cast<unsigned long long>(token));
  return std::string(model_->piece(token));
}

Result<uint64_t> SPTokenizer::piece_to_id(const std::string& text) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "piece_to_id before load");
  const uint32_t id = model_->find(text);
  TK_CHECK_OR_RETURN_ERROR(id != detail::kNone, EncodeFailure, "no piece is %s", text.c_str());
  return uint64_t{id};
}

Result<float> SPTokenizer::score(uint64_t token) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "score before load");
  TK_CHECK_OR_RETURN_ERROR(token < model_->size(), DecodeFailure,
                           "expected an id below %d, got %llu", vocab_size_,
                           static_cast<unsigned long long>(token));
  return model_->score(token);
}

}  // namespace tokenizers
