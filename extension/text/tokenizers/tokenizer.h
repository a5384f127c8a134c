// SPDX-License-Identifier: BSD-3-Clause
// What every tokenizer offers: text to ids and back.
#pragma once

#include <pytorch/tokenizers/error.h>
#include <pytorch/tokenizers/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tokenizers {

struct TokenIndex {
  const char* str;
  int32_t id;
};

/// One vocabulary, read from one file. Threads: load() alone; once it has returned Ok the const
/// members may be called from any number of threads at once.
class Tokenizer {
 public:
  explicit Tokenizer() = default;
  virtual ~Tokenizer() = default;

  /// Reads a file. On failure the object stays as if it had not been loaded, and the reason is
  /// logged.
  virtual Error load(const std::string& tokenizer_path) = 0;

  /// The piece as the vocabulary spells it. DecodeFailure or OutOfRange for an id that it does not
  /// have.
  virtual Result<std::string> id_to_piece(uint64_t token) const = 0;

  /// The inverse. EncodeFailure for a piece that is not in the vocabulary.
  virtual Result<uint64_t> piece_to_id(const std::string& text) const = 0;

  /// Ids of a text in UTF-8 (bytes that are not count as U+FFFD), with `bos` copies of the
  /// beginning-of-text id before and `eos` copies of the end-of-text id after; HFTokenizer says how
  /// it differs. Special tokens that stand in the text become their ids. Uninitialized before
  /// load().
  virtual Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos = 0,
                                               int8_t eos = 0) const = 0;

  /// What `token` adds to the text when it follows `prev_token`. It may be a part of a character:
  /// see StreamDecoder. With skip_special_tokens a special token adds "". Uninitialized before
  /// load().
  virtual Result<std::string> decode(uint64_t prev_token, uint64_t token,
                                     bool skip_special_tokens = false) const = 0;

  /// Number of ids. These three are 0 before load().
  int32_t vocab_size() const { return vocab_size_; }
  uint64_t bos_tok() const { return bos_tok_; }
  uint64_t eos_tok() const { return eos_tok_; }

  virtual bool is_loaded() const { return initialized_; }

 protected:
  bool initialized_ = false;
  int32_t vocab_size_ = 0;
  uint64_t bos_tok_ = 0, eos_tok_ = 0, unk_tok_ = 0;
};

}  // namespace tokenizers
