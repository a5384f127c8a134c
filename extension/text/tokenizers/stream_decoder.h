// SPDX-License-Identifier: BSD-3-Clause
// Text of a sequence as its ids arrive, in whole characters.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <optional>
#include <string>

namespace tokenizers {

/// Joins what Tokenizer::decode() gives and holds back the beginning of an unfinished UTF-8
/// character. The text of all push() and the finish() together is that of decode(), but bytes that
/// cannot be UTF-8 become U+FFFD each time. Borrows the tokenizer. One thread at a time.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = false)
      : tokenizer_(tokenizer), skip_special_tokens_(skip_special_tokens) {}

  /// The characters that `token` completes; "" while one is unfinished. An error leaves the state
  /// as it was.
  Result<std::string> push(uint64_t token);

  /// What is held back, as U+FFFD; the next push() begins a new sequence.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  const bool skip_special_tokens_;
  std::optional<uint64_t> previous_;
  std::string held_;
};

}  // namespace tokenizers
