// SPDX-License-Identifier: BSD-3-Clause
// ImagePrefiller: the older interface to programs that take one image. MultimodalPrefiller takes
// all kinds.
#pragma once

#include <executorch/extension/llm/runner/image.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

class ImagePrefiller {
 public:
  // Borrows the module.
  explicit ImagePrefiller(::executorch::extension::Module* module) : module_(module) {}
  virtual ~ImagePrefiller() = default;

  // Appends the image at start_pos, which moves on; the logits of the next token.
  virtual ::executorch::runtime::Result<executorch::aten::Tensor> prefill(Image& image,
                                                                          int64_t& start_pos) = 0;
  virtual ::executorch::runtime::Error load() = 0;
  virtual bool is_method_loaded() = 0;

 protected:
  Module* module_;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::ImagePrefiller;
}  // namespace torch::executor
