// SPDX-License-Identifier: BSD-3-Clause
// MultimodalDecoderRunner: the decoder of a program that has it apart from the embedding of tokens.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

// Methods token_embedding, tokens {1, n} to {1, n, width}, and text_decoder, those and the position
// to logits. The name of the method and the IOManager do not count. Threads: one at a time.
class MultimodalDecoderRunner : public TextDecoderRunner {
 public:
  explicit MultimodalDecoderRunner(Module* module, IOManager* io_manager,
                                   std::string method_name = "forward",
                                   std::unique_ptr<Sampler> sampler = nullptr)
      : TextDecoderRunner(module, io_manager, std::move(method_name), std::move(sampler)) {}

  // Logits after tokens at start_pos.
  executorch::runtime::Result<executorch::aten::Tensor> step(
      executorch::extension::TensorPtr& tokens, int64_t start_pos) override {
    return decode(ET_UNWRAP(module_->get(kTokenEmbeddingMethod, runtime::EValue(tokens))),
                  start_pos);
  }

  // Logits after embeddings {1, n, width} at start_pos, in the decoder's memory until its next
  // call. InvalidState without embeddings, InvalidProgram unless the decoder returns one tensor.
  executorch::runtime::Result<executorch::aten::Tensor> decode(const runtime::EValue& embeddings,
                                                               int64_t start_pos) {
    ET_CHECK_OR_RETURN_ERROR(embeddings.isTensor() && embeddings.toTensor().dim() >= 2 &&
                                 embeddings.toTensor().size(1) > 0,
                             InvalidState, "Expected embeddings {1, n, width}, found none");
    std::vector<int64_t> positions;
    const auto position = ET_UNWRAP(populate_start_pos_or_cache_position(
        module_, start_pos, positions, static_cast<int>(embeddings.toTensor().size(1)),
        kTextModelMethod));
    return logits_of(
        ET_UNWRAP(module_->execute(kTextModelMethod, {embeddings, runtime::EValue(position)})),
        kTextModelMethod);
  }

  executorch::runtime::Error load() override {
    ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(kTokenEmbeddingMethod));
    return module_->load_method(kTextModelMethod);
  }

  bool is_method_loaded() override {
    return module_->is_method_loaded(kTokenEmbeddingMethod) &&
           module_->is_method_loaded(kTextModelMethod);
  }
};

}  // namespace executorch::extension::llm
