// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/tokenizers/parts/ranked_bytes.h>
#include <pytorch/tokenizers/ranked_tokenizer.h>

#include <utility>

namespace tokenizers::detail {

RankedTokenizer::RankedTokenizer() = default;
RankedTokenizer::~RankedTokenizer() = default;

Result<std::vector<uint64_t>> RankedTokenizer::encode(const std::string& input, int8_t bos,
                                                      int8_t eos) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "encode before load");
  auto ids = vocabulary_->encode(input);
  if (ids.ok()) {
    surround(*ids, bos_tok_, bos, eos_tok_, eos);
  }
  return ids;
}

Result<std::string> RankedTokenizer::decode(uint64_t, uint64_t token,
                                            bool skip_special_tokens) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "decode before load");
  if (skip_special_tokens && vocabulary_->is_special(token)) {
    return std::string();
  }
  return id_to_piece(token);
}

Result<std::string> RankedTokenizer::id_to_piece(uint64_t token) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "id_to_piece before load");
  auto bytes = vocabulary_->bytes(token);
  TK_CHECK_OR_RETURN_ERROR(bytes.has_value(), DecodeFailure, "expected an id below %d, got %llu",
                           vocab_size_, static_cast<unsigned long long>(token));
  return std::move(*bytes);
}

Result<uint64_t> RankedTokenizer::piece_to_id(const std::string& text) const {
  TK_CHECK_OR_RETURN_ERROR(initialized_, Uninitialized, "piece_to_id before load");
  const auto id = vocabulary_->id(text);
  TK_CHECK_OR_RETURN_ERROR(id.has_value(), EncodeFailure, "no token is %s", text.c_str());
  return *id;
}

}  // namespace tokenizers::detail
