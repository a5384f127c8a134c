// SPDX-License-Identifier: BSD-3-Clause
// The Python module executorch.extension.pybindings.data_loader.
#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/py_data_loader.h>

#include <executorch/runtime/platform/runtime.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

PYBIND11_MODULE(data_loader, m) {
  executorch::runtime::runtime_init();
  route_messages();  // this module has a runtime of its own
  py::class_<PyDataLoader>(m, "PyDataLoader")
      .def(py::init([](const Path& path) {
             return std::make_unique<PyDataLoader>(open_data_loader(path.text), py::none());
           }),
           py::arg("path"), "Reads a file.");
}

}  // namespace executorch::extension::pybindings
