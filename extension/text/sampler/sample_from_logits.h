// SPDX-License-Identifier: BSD-3-Clause
// From the tensor that a model returned to a token.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/extension/text/sampler/sampler.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

// InvalidArgument unless it is from 0 to kMaxTemperature.
inline runtime::Error check_temperature(float temperature) {
  ET_CHECK_OR_RETURN_ERROR(temperature >= 0 && temperature <= kMaxTemperature, InvalidArgument,
                           "Expected a temperature from 0 to %d, got %f",
                           static_cast<int>(kMaxTemperature), static_cast<double>(temperature));
  return runtime::Error::Ok;
}

// logits_tensor: [..., vocabulary] of Float, Half, BFloat16 or UInt16; another type aborts. Of
// three dimensions the last position of the second counts, otherwise the first row. Where the
// sampler's vocabulary is smaller than the model's, which may be padded, the rest cannot be
// sampled.
inline int32_t sample_from_logits(const executorch::aten::Tensor& logits_tensor, Sampler& sampler) {
  using executorch::aten::ScalarType;
  const auto dims = logits_tensor.dim();
  const int64_t vocabulary = dims == 0 ? 1 : logits_tensor.size(dims - 1);
  const int64_t row = dims == 3 ? logits_tensor.size(1) - 1 : 0;
  ET_CHECK_MSG(logits_tensor.numel() >= (row + 1) * vocabulary && row >= 0 && vocabulary > 0,
               "Expected the logits of one position at least, got %zd elements",
               static_cast<ssize_t>(logits_tensor.numel()));
  const auto count =
      static_cast<int32_t>(std::min<int64_t>(std::max(sampler.vocab_size(), 1), vocabulary));
  const auto sample = [&](const auto* logits) {
    return sampler.sample(logits + row * vocabulary, count);
  };
  switch (logits_tensor.scalar_type()) {
    case ScalarType::Float:
      return sample(logits_tensor.const_data_ptr<float>());
    case ScalarType::Half:
      return sample(logits_tensor.const_data_ptr<executorch::aten::Half>());
    case ScalarType::BFloat16:
      return sample(logits_tensor.const_data_ptr<executorch::aten::BFloat16>());
    case ScalarType::UInt16:
      return sample(logits_tensor.const_data_ptr<uint16_t>());
    default:
      ET_CHECK_MSG(false, "Expected logits of Float, Half, BFloat16 or UInt16, got dtype %hhd",
                   static_cast<int8_t>(logits_tensor.scalar_type()));
  }
}

// With a sampler for this call alone: temperature 0 takes the best token, else top-p of kTopp with
// a seed from the clock.
inline int32_t logits_to_token(const executorch::aten::Tensor& logits_tensor,
                               const float temperature = 0.0f) {
  const auto dims = logits_tensor.dim();
  Sampler sampler(static_cast<int32_t>(dims == 0 ? 1 : logits_tensor.size(dims - 1)), temperature);
  return sample_from_logits(logits_tensor, sampler);
}

}  // namespace executorch::extension::llm
