// SPDX-License-Identifier: BSD-3-Clause
// What may change logits between the model and the sampler: bans, grammars, penalties.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::llm {

// Called once per token, on the thread that generates.
class LogitProcessor {
 public:
  virtual ~LogitProcessor() = default;

  // Edits the logits of the next token in place. `logits` is what the model returned: see
  // sample_from_logits() for its shapes and types. An error ends the generation.
  virtual ::executorch::runtime::Error process(::executorch::aten::Tensor logits) = 0;
};

}  // namespace executorch::extension::llm
