// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/asr/runner/seq2seq_runner.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/extension/text/sampler/sample_from_logits.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::asr {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;

namespace {

constexpr auto kEncoder = "encoder";
constexpr auto kDecoder = "text_decoder";
constexpr auto kSampler = "sampler";

Result<Tensor> only_tensor(const std::vector<EValue>& outputs, const char* method) {
  ET_CHECK_OR_RETURN_ERROR(outputs.size() == 1 && outputs[0].isTensor(), Internal,
                           "Expected one tensor of method %s, found %zu outputs", method,
                           outputs.size());
  return outputs[0].toTensor();
}

}  // namespace

Seq2SeqRunner::Seq2SeqRunner(const std::string& module_path, std::optional<std::string> data_path,
                             const std::string& tokenizer_path)
    : module_(
          std::make_unique<Module>(module_path, data_path.value_or(""), Module::LoadMode::Mmap)),
      tokenizer_path_(tokenizer_path) {}

bool Seq2SeqRunner::is_loaded() const {
  return is_loaded_;
}

Error Seq2SeqRunner::load() {
  if (is_loaded_) {
    return Error::Ok;
  }
  stats_.model_load_start_ms = llm::time_in_ms();
  ET_CHECK_OK_OR_RETURN_ERROR(module_->load());
  const auto names = ET_UNWRAP(module_->method_names());
  for (const char* method : {kEncoder, kDecoder}) {
    ET_CHECK_OR_RETURN_ERROR(names.count(method) > 0, InvalidArgument,
                             "Expected the program to have a method %s, which it has not", method);
    ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(method));
  }
  has_sampler_ = names.count(kSampler) > 0;
  if (has_sampler_) {
    ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(kSampler));
  }
  tokenizer_ = llm::load_tokenizer(tokenizer_path_);
  ET_CHECK_OR_RETURN_ERROR(tokenizer_ != nullptr, Internal, "Cannot read the tokenizer %s",
                           tokenizer_path_.c_str());
  stats_.model_load_end_ms = llm::time_in_ms();
  is_loaded_ = true;
  return Error::Ok;
}

Result<EValue> Seq2SeqRunner::encode(TensorPtr features) {
  ET_CHECK_OR_RETURN_ERROR(
      features != nullptr && features->dim() == 3, InvalidArgument,
      "Expected features of 3 dims (batch, bins, frames), got %zd",
      features == nullptr ? ssize_t{0} : static_cast<ssize_t>(features->dim()));
  const auto meta = ET_UNWRAP(module_->method_meta(kEncoder));
  const auto wanted = ET_UNWRAP(meta.input_tensor_meta(0))
  .scalar_type();
  if (wanted != features->scalar_type()) {
    ET_CHECK_OR_RETURN_ERROR(wanted == ScalarType::BFloat16, InvalidArgument,
                             "Expected features of dtype %d, got %d", static_cast<int>(wanted),
                             static_cast<int>(features->scalar_type()));
    features = ET_UNWRAP(llm::convert_to_bfloat16(features));
  }
  const auto outputs = ET_UNWRAP(module_->execute(kEncoder, EValue(features)));
  const Tensor states = ET_UNWRAP(only_tensor(outputs, kEncoder));
  stats_.num_prompt_tokens = states.dim() > 1 ? states.size(1) : states.numel();
  return outputs[0];
}

Result<int64_t> Seq2SeqRunner::next_token(int64_t token, const EValue& states, int64_t position,
                                          float temperature) {
  const auto id = from_blob(&token, {1, 1}, ScalarType::Long);
  const auto at = from_blob(&position, {1}, ScalarType::Long);
  const auto outputs = ET_UNWRAP(module_->execute(kDecoder, {EValue(id), states, EValue(at)}));
  const Tensor logits = ET_UNWRAP(only_tensor(outputs, kDecoder));
  stats_.on_sampling_begin();
  int64_t next;
  if (has_sampler_ && temperature == 0) {
    const auto sampled = ET_UNWRAP(module_->execute(kSampler, outputs[0]));
    const Tensor found = ET_UNWRAP(only_tensor(sampled, kSampler));
    ET_CHECK_OR_RETURN_ERROR(found.scalar_type() == ScalarType::Long && found.numel() > 0, Internal,
                             "Expected a token of Long from method %s", kSampler);
    next = found.const_data_ptr<int64_t>()[0];
  } else {
    next = llm::logits_to_token(logits, temperature);
  }
  stats_.on_sampling_end();
  return next;
}

Result<std::vector<int64_t>> Seq2SeqRunner::transcribe(
    TensorPtr preprocessed_features, Seq2SeqTranscribeConfig config,
    std::function<void(const std::string&)> token_callback) {
  ET_CHECK_OR_RETURN_ERROR(config.max_new_tokens > 0, InvalidArgument,
                           "Expected max_new_tokens above 0, got %" PRId64, config.max_new_tokens);
  ET_CHECK_OK_OR_RETURN_ERROR(llm::check_temperature(config.temperature));
  stats_.reset();
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  if (config.eos_token_ids.empty()) {
    const auto ids = llm::get_eos_ids(tokenizer_.get(), module_.get());
    config.eos_token_ids.insert(ids.begin(), ids.end());
  }
  ET_CHECK_OR_RETURN_ERROR(!config.eos_token_ids.empty(), InvalidArgument,
                           "Expected a token that ends a text: eos_token_ids, or get_eos_ids");
  stats_.inference_start_ms = llm::time_in_ms();
  const EValue states = ET_UNWRAP(encode(std::move(preprocessed_features)));
  stats_.prompt_eval_end_ms = llm::time_in_ms();
  std::vector<int64_t> tokens = {config.decoder_start_token_id};
  for (int64_t position = 0; position < config.max_new_tokens; ++position) {
    const int64_t before = tokens.back();
    tokens.push_back(ET_UNWRAP(next_token(before, states, position, config.temperature)));
    if (position == 0) {
      stats_.first_token_ms = llm::time_in_ms();
    }
    const auto piece =
        tokenizer_->decode(static_cast<uint64_t>(before), static_cast<uint64_t>(tokens.back()));
    if (!piece.ok()) {
      ET_LOG(Error, "The tokenizer has no text for token %" PRId64, tokens.back());
    } else if (token_callback) {
      token_callback(*piece);
    }
    if (config.eos_token_ids.count(tokens.back()) > 0) {
      break;
    }
  }
  stats_.num_generated_tokens = static_cast<int64_t>(tokens.size()) - 1;
  stats_.inference_end_ms = llm::time_in_ms();
  std::printf("\n");
  llm::print_report(stats_);
  return tokens;
}

}  // namespace executorch::extension::asr
