// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_token_generator.h>

#include <cinttypes>

#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::Result;

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

Result<uint64_t> TextTokenGenerator::next_token(TensorPtr& input, int64_t position,
                                                float temperature) {
  auto logits = ET_UNWRAP(text_decoder_runner_->step(input, position));
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

Result<int64_t> TextTokenGenerator::generate(
    std::vector<uint64_t> tokens, int64_t start_pos, int32_t max_new_tokens, float temperature,
    const std::function<void(const std::string&)>& token_callback) {
  ET_CHECK_MSG(!tokens.empty(), "Expected a token at least to generate from, got none");
  ET_CHECK_OR_RETURN_ERROR(temperature >= 0 && temperature <= 1, InvalidArgument,
                           "Expected a temperature from 0 to 1, got %f",
                           static_cast<double>(temperature));
  should_stop_.store(false, std::memory_order_relaxed);
  is_at_eos_ = false;
  made_tokens_.clear();
  if (use_kv_cache_) {
    tokens.erase(tokens.begin(), tokens.end() - 1);
  }
  for (int64_t count = 0; count < max_new_tokens; ++count) {
    auto input =
        from_blob(tokens.data(), {1, static_cast<SizesType>(tokens.size())}, ScalarType::Long);
    const uint64_t token = ET_UNWRAP(next_token(input, start_pos + count, temperature));
    const auto piece = tokenizer_->decode(tokens.back(), token);
    ET_CHECK_OR_RETURN_ERROR(piece.ok(), InvalidArgument,
                             "The tokenizer has no text for token %" PRIu64
                             " (code %d): it does not fit the model",
                             token, static_cast<int>(static_cast<uint32_t>(piece.error())));
    made_tokens_.push_back(token);
    if (use_kv_cache_) {
      tokens.back() = token;
    } else {
      tokens.push_back(token);
    }
    is_at_eos_ = !ignore_eos_ && is_eos(token);
    if (!is_at_eos_ || !hide_eos_) {
      token_callback(*piece);
    }
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
