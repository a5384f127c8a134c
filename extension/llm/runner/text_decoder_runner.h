// SPDX-License-Identifier: BSD-3-Clause
// TextDecoderRunner: one call of the decoder, and a token from its logits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/llm/runner/io_manager/io_manager.h>
#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/text/sampler/sample_from_logits.h>
#include <executorch/extension/text/sampler/sampler.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Threads: one at a time.
class TextDecoderRunner {
 public:
  // Borrows module and io_manager. Without a sampler, logits_to_token() makes one for each call.
  explicit TextDecoderRunner(Module* module, IOManager* io_manager,
                             std::string method_name = "forward",
                             std::unique_ptr<Sampler> sampler = nullptr)
      : module_(module),
        io_manager_(io_manager),
        method_name_(std::move(method_name)),
        sampler_(std::move(sampler)) {}
  virtual ~TextDecoderRunner() = default;

  // Runs the method on Long tokens of {1, n}. A method of one input takes the tokens alone: it has
  // no cache and start_pos does not count. One of two keeps a cache and takes the position of the
  // first token, or of all, too. The logits lie in the method's memory until its next call.
  // InvalidProgram unless the method returns one tensor; errors of Module and IOManager.
  virtual ::executorch::runtime::Result<executorch::aten::Tensor> step(TensorPtr& input,
                                                                       int64_t start_pos);

  // Loads the method. Errors of Module::load_method().
  virtual ::executorch::runtime::Error load();

  virtual bool is_method_loaded() { return module_->is_method_loaded(method_name_); }

  // Whether step() gives the logits of all its tokens, and not of the last one only. False for
  // methods that cannot be read.
  bool has_all_logits() const;

  // See sample_from_logits().
  int32_t logits_to_token(const executorch::aten::Tensor& logits_tensor,
                          const float temperature = 0.0f) {
    if (sampler_ == nullptr) {
      return llm::logits_to_token(logits_tensor, temperature);
    }
    sampler_->set_temperature(temperature);
    return sample_from_logits(logits_tensor, *sampler_);
  }

  // Top-k, top-p, min-p, penalty and seed of the next tokens; without a sampler, no effect.
  void set_sampling(const GenerationConfig& config);

  const std::string& method_name() const { return method_name_; }

  // Null if none was given.
  Sampler* sampler() const { return sampler_.get(); }

 protected:
  // What a call gave. InvalidProgram unless it is one tensor.
  static ::executorch::runtime::Result<executorch::aten::Tensor> logits_of(
      const std::vector<::executorch::runtime::EValue>& outputs, const char* method_name);

  Module* module_;
  IOManager* io_manager_;
  std::string method_name_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::TextDecoderRunner;
}  // namespace torch::executor
