// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/multimodal_prefiller.h>

#include <algorithm>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using runtime::EValue;

namespace {

const char* const kEncoders[] = {kVisionEncoderMethod, kAudioEncoderMethod};

}  // namespace

bool MultimodalPrefiller::has_method(const char* name) {
  const auto names = module_->method_names();
  return names.ok() && names->count(name) > 0;
}

Error MultimodalPrefiller::load() {
  ET_CHECK_OK_OR_RETURN_ERROR(text_decoder_runner_->load());
  for (const char* encoder : kEncoders) {
    if (has_method(encoder)) {
      ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(encoder));
    }
  }
  return Error::Ok;
}

bool MultimodalPrefiller::is_method_loaded() {
  return text_decoder_runner_->is_method_loaded() &&
         std::all_of(std::begin(kEncoders), std::end(kEncoders), [&](const char* encoder) {
           return !has_method(encoder) || module_->is_method_loaded(encoder);
         });
}

uint64_t MultimodalPrefiller::sample(float temperature) const {
  ET_CHECK_MSG(logits_.has_value(), "Nothing has been prefilled that could be sampled from");
  return static_cast<uint64_t>(text_decoder_runner_->logits_to_token(*logits_, temperature));
}

Result<uint64_t> MultimodalPrefiller::feed(const EValue& embeddings, int64_t& start_pos) {
  const auto logits = ET_UNWRAP(text_decoder_runner_->decode(embeddings, start_pos));
  start_pos += embeddings.toTensor().size(1);
  logits_ = logits;
  Sampler* sampler = text_decoder_runner_->sampler();
  if (sampler != nullptr) {
    sampler->set_preview(true);
  }
  const uint64_t best = sample(0.0f);
  if (sampler != nullptr) {
    sampler->set_preview(false);
  }
  return best;
}

// In chunks of as many tokens as the embedding takes.
Result<uint64_t> MultimodalPrefiller::feed_tokens(const std::vector<uint64_t>& tokens,
                                                  int64_t& start_pos) {
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument,
                           "Expected a token at least in the input, got none");
  const auto meta = ET_UNWRAP(module_->method_meta(kTokenEmbeddingMethod));
  const auto sizes = ET_UNWRAP(meta.input_tensor_meta(0))
  .sizes();
  const size_t most = sizes.size() == 2 && sizes[1] > 0 ? static_cast<size_t>(sizes[1]) : 1;
  uint64_t next = 0;
  for (size_t begin = 0; begin < tokens.size(); begin += most) {
    const size_t count = std::min(most, tokens.size() - begin);
    const auto chunk = from_blob(const_cast<uint64_t*>(tokens.data() + begin),
                                 {1, static_cast<SizesType>(count)}, ScalarType::Long);
    const auto embeddings = ET_UNWRAP(module_->get(kTokenEmbeddingMethod, EValue(chunk)));
    next = ET_UNWRAP(feed(embeddings, start_pos));
  }
  return next;
}

Result<TensorPtr> MultimodalPrefiller::in_type_of(const char* method, const TensorPtr& given) {
  const auto meta = ET_UNWRAP(module_->method_meta(method));
  ET_CHECK_OR_RETURN_ERROR(meta.num_inputs() > 0, InvalidArgument,
                           "Expected method %s to take an input, found none", method);
  const auto info = ET_UNWRAP(meta.input_tensor_meta(0));
  const ScalarType wanted = info.scalar_type();
  ET_CHECK_OR_RETURN_ERROR(
      wanted == ScalarType::Float || wanted == ScalarType::Byte || wanted == ScalarType::BFloat16,
      NotSupported, "Method %s takes dtype %hhd; expected Float, Byte or BFloat16", method,
      static_cast<int8_t>(wanted));
  const ScalarType expected = wanted == ScalarType::BFloat16 ? ScalarType::Float : wanted;
  ET_CHECK_OR_RETURN_ERROR(given->scalar_type() == expected, InvalidArgument,
                           "Method %s: expected values of dtype %hhd, got %hhd", method,
                           static_cast<int8_t>(expected),
                           static_cast<int8_t>(given->scalar_type()));
  return wanted == ScalarType::BFloat16 ? convert_to_bfloat16(given) : Result<TensorPtr>(given);
}

Result<EValue> MultimodalPrefiller::encode_image(const Image& image) {
  const auto meta = ET_UNWRAP(module_->method_meta(kVisionEncoderMethod));
  ET_CHECK_OR_RETURN_ERROR(meta.num_inputs() > 0, InvalidArgument,
                           "Expected method %s to take an image, found no input",
                           kVisionEncoderMethod);
  const bool has_batch = ET_UNWRAP(meta.input_tensor_meta(0))
  .sizes().size() == 4;
  const auto given = ET_UNWRAP(image.toTensor(has_batch));
  const auto tensor = ET_UNWRAP(in_type_of(kVisionEncoderMethod, given));
  return module_->get(kVisionEncoderMethod, EValue(tensor));
}

Result<EValue> MultimodalPrefiller::encode_audio(const Audio& audio) {
  const auto given = ET_UNWRAP(audio.toTensor());
  const auto tensor = ET_UNWRAP(in_type_of(kAudioEncoderMethod, given));
  auto found = module_->get(kAudioEncoderMethod, EValue(tensor));
  ET_CHECK_OR_RETURN_ERROR(found.ok(), Internal, "Method %s failed: %s", kAudioEncoderMethod,
                           runtime::to_string(found.error()));
  return found;
}

Result<uint64_t> MultimodalPrefiller::prefill(const MultimodalInput& input, int64_t& start_pos,
                                              int32_t bos, int32_t eos) {
  if (const Image* image = input.try_get_image()) {
    return feed(ET_UNWRAP(encode_image(*image)), start_pos);
  }
  if (const Audio* audio = input.try_get_audio()) {
    return feed(ET_UNWRAP(encode_audio(*audio)), start_pos);
  }
  if (const auto* tokens = input.try_get_tokens()) {
    return feed_tokens(*tokens, start_pos);
  }
  ET_CHECK_OR_RETURN_ERROR(input.is_text(), NotSupported,
                           "Expected text, tokens, image or audio, got %s: process it before",
                           input.type_name());
  return feed_tokens(ET_UNWRAP(ids_of(*tokenizer_, input.get_text(), bos, eos)), start_pos);
}

}  // namespace executorch::extension::llm
