// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/bundled_program.h>
#include <executorch/extension/pybindings/log_capture.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

void bind_bundled_programs(py::module_& m) {
  for (const char* name :
       {"_load_bundled_program_from_buffer", "_load_for_executorch_from_bundled_program"}) {
    m.def(name, [](const py::args&, const py::kwargs&) {
      throw RuntimeFailure(
          "This build reads no bundled programs: build with EXECUTORCH_BUILD_DEVTOOLS");
    });
  }
}

}  // namespace executorch::extension::pybindings
