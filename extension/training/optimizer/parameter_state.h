// SPDX-License-Identifier: BSD-3-Clause
// What an optimizer remembers of each parameter, and the checks that its arithmetic relies on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::training::optimizer {

// Of one parameter. Memory is the state's own.
class ParameterState {
 public:
  // Zeros: no step yet, and one buffer of the parameter's sizes for each name (string constants).
  ParameterState(const executorch::aten::Tensor& parameter,
                 const std::vector<const char*>& buffer_names);

  // How often the parameter was updated.
  int64_t& steps() { return *steps_->mutable_data_ptr<int64_t>(); }
  float* buffer(size_t index) { return buffers_[index]->mutable_data_ptr<float>(); }

  // Adds "state.<parameter>.step" (Long, no dimensions) and "state.<parameter>.<buffer>".
  void list(std::string_view parameter, std::map<std::string, executorch::aten::Tensor>& out) const;

 private:
  TensorPtr steps_;
  std::vector<TensorPtr> buffers_;
  std::vector<const char*> names_;
};

// Ok if the elements of a gradient belong to those of its parameter one by one, as they lie in
// memory. InvalidArgument says what was expected and found.
[[nodiscard]] runtime::Error check_gradient(std::string_view name,
                                            const executorch::aten::Tensor& parameter,
                                            const executorch::aten::Tensor& gradient);

}  // namespace executorch::extension::training::optimizer
