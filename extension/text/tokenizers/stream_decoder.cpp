// SPDX-License-Identifier: BSD-3-Clause
// Whole characters of what has arrived.
#include <executorch/extension/text/tokenizers/text/utf8.h>
#include <pytorch/tokenizers/stream_decoder.h>

namespace tokenizers {

Result<std::string> StreamDecoder::push(uint64_t token) {
  auto text =
      tokenizer_.decode(previous_.value_or(tokenizer_.bos_tok()), token, skip_special_tokens_);
  if (!text.ok()) {
    return text.error();
  }
  previous_ = token;
  held_ += *text;
  std::string whole;
  size_t at = 0;
  while (at < held_.size()) {
    const detail::Utf8Step step = detail::utf8_step(held_, at);
    if (step.kind == detail::Utf8Step::kUnfinished) {
      break;
    }
    if (step.kind == detail::Utf8Step::kComplete) {
      whole.append(held_, at, step.length);
    } else {
      detail::append_utf8(detail::kReplacement, whole);
    }
    at += step.length;
  }
  held_.erase(0, at);
  return whole;
}

std::string StreamDecoder::finish() {
  std::string rest = detail::with_replacements(held_);
  held_.clear();
  previous_.reset();
  return rest;
}

}  // namespace tokenizers
