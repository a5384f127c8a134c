// SPDX-License-Identifier: BSD-3-Clause
// Inputs of a method as they stand on a command line: files and numbers.
#pragma once

#include <string>
#include <vector>

#include <executorch/extension/runner_util/inputs.h>
#include <executorch/runtime/core/error.h>

namespace executorch::extension {

class GivenInputs {
 public:
  GivenInputs() = default;
  GivenInputs(const GivenInputs&) = delete;
  GivenInputs& operator=(const GivenInputs&) = delete;

  // Reads one text per input of the method: for a tensor a file with its raw bytes, or one of
  // numpy.save() that ends in .npy; for other inputs an integer, a number, true or false, or none.
  // As many texts as the method has tensors are their files; other inputs are 1 then. No text at
  // all: everything is 1.
  //   InvalidArgument, AccessFailed  with a message: expected, found, which input
  ET_NODISCARD runtime::Error read(const MethodMeta& meta, const std::vector<std::string>& texts);

  // For prepare_inputs(); they point into this object.
  const std::vector<InputValue>& values() const { return values_; }

 private:
  std::vector<std::string> files_;
  std::vector<InputValue> values_;
};

}  // namespace executorch::extension
