// SPDX-License-Identifier: BSD-3-Clause
// Metadata of methods in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include <executorch/runtime/executor/method_meta.h>

namespace executorch::extension::pybindings {

struct PyMethodMeta {
  executorch::runtime::MethodMeta meta;
  pybind11::object owner;  // keeps the program
};

// "forward(float32[2, 3], int) -> float32[2, 3]"
std::string signature(const executorch::runtime::MethodMeta& meta);

// Adds MethodMeta and TensorInfo.
void bind_method_meta(pybind11::module_& module);

}  // namespace executorch::extension::pybindings
