// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_decoder_runner.h>

#include <vector>

#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;

Error TextDecoderRunner::load() {
  ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(method_name_),
                              "Failed to load method '%s': check that the program has it and that "
                              "its operators and backends are linked",
                              method_name_.c_str());
  return Error::Ok;
}

void TextDecoderRunner::set_sampling(const GenerationConfig& config) {
  if (sampler_ == nullptr) {
    return;
  }
  sampler_->set_topk(config.top_k, config.top_p.is_given());
  sampler_->set_topp(config.top_p);
  sampler_->set_min_p(config.min_p);
  sampler_->set_repetition_penalty(config.repetition_penalty);
  sampler_->begin_answer_penalties(config.frequency_penalty, config.presence_penalty);
  if (config.seed.has_value()) {
    sampler_->set_seed(*config.seed);
  }
}

bool TextDecoderRunner::has_all_logits() const {
  const auto meta = module_->method_meta(method_name_);
  if (!meta.ok() || meta->num_inputs() == 0 || meta->num_inputs() > 2 || meta->num_outputs() == 0) {
    return false;
  }
  const auto tokens = meta->input_tensor_meta(0);
  const auto logits = meta->output_tensor_meta(0);
  return tokens.ok() && logits.ok() && tokens->sizes().size() == 2 && logits->sizes().size() == 3 &&
         tokens->sizes()[1] == logits->sizes()[1];
}

Result<Tensor> TextDecoderRunner::step(TensorPtr& input, int64_t start_pos) {
  const auto meta = ET_UNWRAP(module_->method_meta(method_name_));
  std::vector<EValue> outputs;
  if (meta.num_inputs() > 1) {
    std::vector<int64_t> positions;
    const auto position = ET_UNWRAP(populate_start_pos_or_cache_position(
        module_, start_pos, positions, static_cast<int>(input->numel()), method_name_.c_str()));
    const bool is_prefill = input->numel() > 1;
    const auto inputs =
        ET_UNWRAP(is_prefill ? io_manager_->prepare_prefill(input, position, method_name_)
                             : io_manager_->prepare_decode(input, position, method_name_));
    outputs = ET_UNWRAP(module_->execute(method_name_, inputs));
    ET_CHECK_OK_OR_RETURN_ERROR(is_prefill ? io_manager_->update_prefill(outputs, method_name_)
                                           : io_manager_->update_decode(outputs, method_name_));
  } else {
    outputs = ET_UNWRAP(module_->execute(method_name_, EValue(input)));
  }
  return logits_of(outputs, method_name_.c_str());
}

Result<Tensor> TextDecoderRunner::logits_of(const std::vector<EValue>& outputs,
                                            const char* method_name) {
  ET_CHECK_OR_RETURN_ERROR(outputs.size() == 1 && outputs[0].isTensor(), InvalidProgram,
                           "Expected method %s to return one tensor of logits, found %zu outputs",
                           method_name, outputs.size());
  return outputs[0].toTensor();
}

}  // namespace executorch::extension::llm
