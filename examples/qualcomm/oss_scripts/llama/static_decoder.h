// SPDX-License-Identifier: BSD-3-Clause
// A language model whose methods have fixed sizes and whose caches are their inputs and outputs:
// tokens, positions, mask, keys and values -> logits, new keys and values, as the Python side
// (extension/llm/transform/static_program.py) exports it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::examples::qualcomm {

class StaticDecoder {
 public:
  // Reads prompts by one method and answers by the other, which may be the same. InvalidArgument
  // for a method of other inputs, or of other caches than the first has.
  static runtime::Result<std::unique_ptr<StaticDecoder>> load(extension::Module* module,
                                                              const std::string& prompt_method,
                                                              const std::string& answer_method);

  // Puts tokens into the caches, as many in a call as a method takes; the logits of all tokens of
  // the last call, of which `num_last` are those given. InvalidArgument where the caches are full.
  runtime::Result<executorch::aten::Tensor> read(const std::vector<uint64_t>& tokens,
                                                 bool is_prompt, size_t* num_last);

  // A new text.
  void reset() { position_ = 0; }
  size_t position() const { return position_; }
  // Tokens that the caches hold.
  size_t num_rows() const { return num_rows_; }

 private:
  // A method's inputs before the caches; they stay where they are from call to call.
  struct Part {
    std::string name;
    size_t length = 0;
    std::vector<int32_t> tokens, positions;
    std::vector<float> mask;
    extension::TensorPtr tokens_tensor, positions_tensor, mask_tensor;
  };

  explicit StaticDecoder(extension::Module* module) : module_(module) {}
  runtime::Result<Part> make_part(const std::string& name);
  runtime::Result<executorch::aten::Tensor> call(Part& part, const uint64_t* tokens, size_t count);
  void put(const executorch::aten::Tensor& made, std::vector<float>& cache, size_t length,
           size_t count) const;

  extension::Module* module_;
  Part prompt_, answer_;
  size_t position_ = 0, num_rows_ = 0;
  std::vector<std::vector<float>> caches_;
  std::vector<extension::TensorPtr> cache_tensors_;
};

}  // namespace executorch::examples::qualcomm
