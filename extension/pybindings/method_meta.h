// SPDX-License-Identifier: BSD-3-Clause
// Metadata of methods and programs in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/program.h>

namespace executorch::extension::pybindings {

struct PyMethodMeta {
  executorch::runtime::MethodMeta meta;
  pybind11::object owner;  // keeps the program
};

// "forward(image: float32[<=2, 3], Int) -> float32[<=2, 3]"
std::string signature(const executorch::runtime::MethodMeta& meta);

std::vector<std::string> method_names(const executorch::runtime::Program& program);

// Throws RuntimeFailure for a program whose methods, inputs or outputs have names that Python
// cannot spell: they are asked for by them.
void check_names(const executorch::runtime::Program& program, const std::string& what);

// JSON, or nothing.
pybind11::str user_metadata(const executorch::runtime::Program& program);

// Adds MethodMeta and TensorInfo.
void bind_method_meta(pybind11::module_& module);

}  // namespace executorch::extension::pybindings
