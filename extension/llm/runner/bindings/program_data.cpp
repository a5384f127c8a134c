// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/bindings/program_data.h>

#include <string>
#include <string_view>

#include <executorch/extension/module/module.h>
#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/log_capture.h>

namespace py = pybind11;

namespace executorch::extension::llm {
namespace {

using pybindings::LogCapture;
using pybindings::Path;

// Named data whose keys begin with the prefix, by the rest of the key.
py::dict named_data(const Path& path, const std::string& prefix) {
  const LogCapture capture;
  const std::string failed = "Cannot read " + path.text;
  Module module(path.text, Module::LoadMode::Mmap);
  capture.check(module.load(), failed);
  const auto* map = capture.take(module.program()->get_named_data_map(), failed);
  const uint32_t count = capture.take(map->get_num_keys(), failed);
  py::dict found;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view key = capture.take(map->get_key(i), failed);
    if (key.substr(0, prefix.size()) == prefix) {
      const auto held = capture.take(map->get_data(key), failed);
      found[py::str(key.substr(prefix.size()))] =
          py::bytes(static_cast<const char*>(held.data()), held.size());
    }
  }
  return found;
}

}  // namespace

void define_program_data(py::module_& module) {
  module.def("named_data", &named_data, py::arg("path"), py::arg("prefix"),
             "What a program carries under keys that begin so, by the rest of the key; its file is "
             "mapped.");
}

}  // namespace executorch::extension::llm
