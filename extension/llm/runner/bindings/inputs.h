// SPDX-License-Identifier: BSD-3-Clause
// The part of the Python module about inputs.
#pragma once

#include <pybind11/pybind11.h>

namespace executorch::extension::llm {

void define_python_inputs(pybind11::module_& module);

}  // namespace executorch::extension::llm
