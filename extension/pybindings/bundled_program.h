// SPDX-License-Identifier: BSD-3-Clause
// Bundled programs in Python: programs with test cases, verified where they run.
#pragma once

#include <pybind11/pybind11.h>

namespace executorch::extension::pybindings {

// BundledModule, _load_bundled_program_from_buffer and _load_for_executorch_from_bundled_program;
// in builds without developer tools functions that say so.
void bind_bundled_programs(pybind11::module_& m);

}  // namespace executorch::extension::pybindings
