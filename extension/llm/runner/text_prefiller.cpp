// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_prefiller.h>

#include <executorch/extension/llm/runner/context.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::Result;

Result<uint64_t> TextPrefiller::prefill(std::vector<uint64_t>& prompt_tokens, int64_t& start_pos,
                                        float temperature) {
  ET_CHECK_MSG(!prompt_tokens.empty(), "Expected a token at least to prefill, got none");
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(temperature));
  if (!text_decoder_runner_->is_method_loaded()) {
    ET_CHECK_OK_OR_RETURN_ERROR(text_decoder_runner_->load());
  }
  const auto count = static_cast<int64_t>(prompt_tokens.size());
  if (count <= max_seq_len_ || !use_kv_cache_) {
    return prefill_chunk(prompt_tokens, start_pos, temperature);
  }
  uint64_t next = 0;
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    end = begin + next_call(count - begin, max_seq_len_);
    std::vector<uint64_t> chunk(prompt_tokens.begin() + begin, prompt_tokens.begin() + end);
    const bool is_last = end == count;
    Sampler* sampler = text_decoder_runner_->sampler();
    if (sampler != nullptr) {
      sampler->set_preview(!is_last);
    }
    const auto done = prefill_chunk(chunk, start_pos, is_last ? temperature : 0.0f);
    if (sampler != nullptr) {
      sampler->set_preview(false);
    }
    ET_CHECK_OK_OR_RETURN_ERROR(done.error());
    next = *done;
  }
  return next;
}

Result<Tensor> TextPrefiller::step(uint64_t* tokens, size_t count, int64_t& start_pos) {
  auto input = from_blob(tokens, {1, static_cast<SizesType>(count)}, ScalarType::Long);
  const auto logits = ET_UNWRAP(text_decoder_runner_->step(input, start_pos));
  start_pos += static_cast<int64_t>(count);
  return logits;
}

Result<uint64_t> TextPrefiller::prefill_chunk(std::vector<uint64_t>& prompt_tokens,
                                              int64_t& start_pos, float temperature) {
  ET_CHECK_MSG(!prompt_tokens.empty(), "Expected a token at least to prefill, got none");
  ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(temperature));
  const auto sample = [&](const Tensor& logits) {
    return static_cast<uint64_t>(text_decoder_runner_->logits_to_token(logits, temperature));
  };
  if (enable_parallel_prefill_ || !use_kv_cache_) {
    const auto logits = ET_UNWRAP(step(prompt_tokens.data(), prompt_tokens.size(), start_pos));
    ET_LOG(Info, "Prefill token result numel(): %zu", static_cast<size_t>(logits.numel()));
    return sample(logits);
  }
  for (size_t i = 0; i + 1 < prompt_tokens.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(step(&prompt_tokens[i], 1, start_pos).error());
  }
  return sample(ET_UNWRAP(step(&prompt_tokens.back(), 1, start_pos)));
}

}  // namespace executorch::extension::llm
