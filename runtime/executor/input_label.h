// SPDX-License-Identifier: BSD-3-Clause
// How messages call an input: by its name, or by its number where the file has none.
#pragma once

#include <cstddef>
#include <cstdio>

#include <executorch/schema/program_generated.h>

namespace executorch::runtime {

// Text without allocation; a very long name is cut.
class InputLabel {
 public:
  InputLabel(const executorch_flatbuffer::ExecutionPlan& plan, size_t input) {
    const auto* infos = plan.input_info();
    const bool is_known = infos != nullptr && input < infos->size();
    const auto* name = is_known ? infos->Get(static_cast<uint32_t>(input))->name() : nullptr;
    if (name != nullptr && name->size() > 0) {
      std::snprintf(text_, sizeof(text_), "%s", name->c_str());
    } else {
      std::snprintf(text_, sizeof(text_), "%zu", input);
    }
  }

  const char* text() const { return text_; }

 private:
  char text_[64];
};

}  // namespace executorch::runtime
