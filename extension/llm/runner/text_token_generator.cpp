// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_token_generator.h>

#include <algorithm>

#include <executorch/extension/llm/runner/util.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::Result;

namespace {

// Saxena, "Prompt Lookup Decoding" (2023): what followed the last tokens when they came before, the
// latest time.
std::vector<uint64_t> guess(const std::vector<uint64_t>& tokens, int64_t most) {
  constexpr size_t kLongest = 3;
  constexpr size_t kShortest = 2;
  for (size_t length = kLongest; most > 0 && length >= kShortest; --length) {
    if (tokens.size() <= length) {
      continue;
    }
    const auto last = tokens.end() - static_cast<ptrdiff_t>(length);
    const auto found = std::find_end(tokens.begin(), tokens.end() - 1, last, tokens.end());
    if (found != tokens.end() - 1) {
      const auto next = found + static_cast<ptrdiff_t>(length);
      return {next, next + std::min<ptrdiff_t>(most, tokens.end() - next)};
    }
  }
  return {};
}

}  // namespace

void TextTokenGenerator::add_logit_processor(std::shared_ptr<LogitProcessor> processor) {
  if (processor != nullptr) {
    logit_processors_.push_back(std::move(processor));
  }
}

Error TextTokenGenerator::apply_logit_processors(Tensor& logits) {
  for (const auto& processor : logit_processors_) {
    ET_CHECK_OK_OR_RETURN_ERROR(processor->process(logits));
  }
  return Error::Ok;
}

Result<uint64_t> TextTokenGenerator::sample(Tensor& logits, float temperature) {
  ET_CHECK_OK_OR_RETURN_ERROR(apply_logit_processors(logits));
  stats_->on_sampling_begin();
  const auto token =
      static_cast<uint64_t>(text_decoder_runner_->logits_to_token(logits, temperature));
  stats_->on_sampling_end();
  if (Sampler* sampler = text_decoder_runner_->sampler()) {
    sampler->accept(token);
  }
  return token;
}

Error TextTokenGenerator::show(uint64_t previous, uint64_t token,
                               const std::function<void(const std::string&)>& token_callback) {
  const std::string piece = ET_UNWRAP(text_of(*tokenizer_, previous, token));
  made_tokens_.push_back(token);
  is_at_eos_ = !ignore_eos_ && is_eos(token);
  if (!is_at_eos_ || !hide_eos_) {
    token_callback(piece);
  }
  return Error::Ok;
}

Error TextTokenGenerator::make_tokens(
    std::vector<uint64_t>& tokens, int64_t position, int64_t most, float temperature,
    const std::function<void(const std::string&)>& token_callback) {
  const int64_t room = std::min(most, end_position_ - position) - 1;
  const std::vector<uint64_t> guesses = guess(tokens, std::min(most_guesses_, room));
  std::vector<uint64_t> fed(use_kv_cache_ ? tokens.end() - 1 : tokens.begin(), tokens.end());
  fed.insert(fed.end(), guesses.begin(), guesses.end());
  auto input = from_blob(fed.data(), {1, static_cast<SizesType>(fed.size())}, ScalarType::Long);
  auto logits = ET_UNWRAP(text_decoder_runner_->step(input, position));
  ET_CHECK_OR_RETURN_ERROR(
      guesses.empty() || (logits.dim() == 3 && logits.size(1) == static_cast<int64_t>(fed.size())),
      InvalidProgram, "Expected the logits of %zu tokens, which the method's outputs promise",
      fed.size());
  for (size_t row = 0; row <= guesses.size(); ++row) {
    uint64_t token;
    if (guesses.empty()) {
      token = ET_UNWRAP(sample(logits, temperature));
    } else {
      const auto vocabulary = static_cast<SizesType>(logits.size(2));
      auto* begin =
          static_cast<uint8_t*>(logits.mutable_data_ptr()) +
          row * static_cast<size_t>(vocabulary) * static_cast<size_t>(logits.element_size());
      const auto of_row = from_blob(begin, {1, vocabulary}, logits.scalar_type());
      token = ET_UNWRAP(sample(*of_row, temperature));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(show(tokens.back(), token, token_callback));
    tokens.push_back(token);
    const bool is_right = row < guesses.size() && guesses[row] == token;
    if (!is_right || is_at_eos_ || should_stop_.load(std::memory_order_relaxed)) {
      break;
    }
  }
  return Error::Ok;
}

Result<int64_t> TextTokenGenerator::generate(
    std::vector<uint64_t> tokens, int64_t start_pos, int32_t max_new_tokens, float temperature,
    const std::function<void(const std::string&)>& token_callback) {
  ET_CHECK_MSG(!tokens.empty(), "Expected a token at least to generate from, got none");
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(temperature));
  should_stop_.store(false, std::memory_order_relaxed);
  is_at_eos_ = false;
  made_tokens_.clear();
  while (static_cast<int64_t>(made_tokens_.size()) < max_new_tokens) {
    const auto made = static_cast<int64_t>(made_tokens_.size());
    ET_CHECK_OK_OR_RETURN_ERROR(
        make_tokens(tokens, start_pos + made, max_new_tokens - made, temperature, token_callback));
    if (should_stop_.load(std::memory_order_relaxed)) {
      break;
    }
    if (is_at_eos_) {
      ET_LOG(Info, "\nReached to the end of generation");
      break;
    }
  }
  return static_cast<int64_t>(made_tokens_.size());
}

}  // namespace executorch::extension::llm
