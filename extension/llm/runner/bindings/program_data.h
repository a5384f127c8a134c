// SPDX-License-Identifier: BSD-3-Clause
// The part of the Python module about what a program carries beside the network.
#pragma once

#include <pybind11/pybind11.h>

namespace executorch::extension::llm {

void define_program_data(pybind11::module_& module);

}  // namespace executorch::extension::llm
