// SPDX-License-Identifier: BSD-3-Clause
// Names of inputs and outputs in a program: a line each.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

#include <executorch/schema/program_generated.h>

namespace executorch::runtime {

// Line `index` of the text; empty if there is none.
inline std::string_view name_in(const flatbuffers::String* lines, size_t index) {
  std::string_view rest = lines == nullptr ? std::string_view() : lines->string_view();
  size_t length = rest.find('\n');
  for (; index > 0; --index) {
    if (length == std::string_view::npos) {
      return {};
    }
    rest.remove_prefix(length + 1);
    length = rest.find('\n');
  }
  return {rest.data(), length == std::string_view::npos ? rest.size() : length};
}

// How messages call an input: by its name, or by its number where the file has none. Text without
// allocation; a very long name is cut.
class InputLabel {
 public:
  InputLabel(const executorch_flatbuffer::ExecutionPlan& plan, size_t input) {
    const std::string_view name = name_in(plan.input_name_lines(), input);
    if (name.empty()) {
      std::snprintf(text_, sizeof(text_), "%zu", input);
    } else {
      const size_t room = sizeof(text_) - 1;
      std::snprintf(text_, sizeof(text_), "%.*s",
                    static_cast<int>(name.size() < room ? name.size() : room), name.data());
    }
  }

  const char* text() const { return text_; }

 private:
  char text_[64];
};

}  // namespace executorch::runtime
