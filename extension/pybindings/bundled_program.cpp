// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/bundled_program.h>

#include <pybind11/stl.h>

#include <executorch/devtools/bundled_program/bundled_program.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <executorch/extension/module/bundled_module.h>
#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/method_runner.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {
namespace {

using bundled_module::BundledModule;
using executorch::runtime::Error;

class PyBundledModule {
 public:
  explicit PyBundledModule(const py::bytes& file) : owner_(file), file_(std::string_view(file)) {
    const void* data = nullptr;
    size_t size = 0;
    const LogCapture capture;
    capture.check(bundled_program::get_program_data(const_cast<void*>(file_.data()), file_.size(),
                                                    &data, &size),
                  "The buffer holds no bundled program that can be run");
    program_ = {static_cast<const char*>(data), size};
    auto module = std::make_unique<BundledModule>(file_.data());
    capture.check(module->load(), "Cannot load the program of the bundle");
    bundle_ = module.get();
    module_ = std::make_shared<GuardedModule>(std::move(module), nullptr);
  }

  // A copy.
  py::bytes program() const { return {program_.data(), program_.size()}; }

  py::list verify(const std::string& method, size_t testset_idx, double rtol, double atol,
                  const py::object& self) {
    auto found = runners_.find(method);
    if (found == runners_.end()) {
      found = runners_.emplace(method, std::make_unique<MethodRunner>(module_, method)).first;
    }
    found->second->execute([&](Module&) { return bundle_->execute(method, testset_idx).error(); });
    const LogCapture capture;
    const Error error = bundle_->verify_method_outputs(method, testset_idx, rtol, atol);
    capture.check(error, "Result verification failed with status " +
                             std::to_string(static_cast<uint32_t>(error)));
    return found->second->get_outputs(self, /*clone_outputs=*/true);
  }

 private:
  py::bytes owner_;
  AlignedBytes file_;
  std::string_view program_;
  BundledModule* bundle_;  // of module_
  std::shared_ptr<GuardedModule> module_;
  std::map<std::string, std::unique_ptr<MethodRunner>> runners_;
};

}  // namespace

void bind_bundled_programs(py::module_& m) {
  py::class_<PyBundledModule>(m, "BundledModule",
                              "A program with test cases, in memory; for one thread at a time.",
                              py::module_local())
      .def(
          "verify_result_with_bundled_expected_output",
          [](const py::object& self, const std::string& method, size_t testset_idx, double rtol,
             double atol) {
            return self.cast<PyBundledModule&>().verify(method, testset_idx, rtol, atol, self);
          },
          py::arg("method_name"), py::arg("testset_idx"), py::arg("rtol") = 1e-5,
          py::arg("atol") = 1e-8,
          "Runs a test case and gives its outputs. Raises ExecuTorchError when one is not within "
          "atol + rtol * |output| of the expected one, or the case has no expected outputs.");
  m.def(
      "_load_bundled_program_from_buffer",
      [](const py::bytes& buffer, size_t) { return std::make_unique<PyBundledModule>(buffer); },
      py::arg("buffer"), py::arg("non_const_pool_size") = 16384,
      "Takes the bytes of a bundled program (.bpte), which are checked. The pool's size has no "
      "effect: methods plan their own memory.");
  const auto load = [](const PyBundledModule& bundle, const py::object& data, bool enable_etdump,
                       size_t debug_buffer_size) {
    const auto lib = py::module_::import("executorch.extension.pybindings._portable_lib");
    return lib.attr("_load_for_executorch_from_buffer")(bundle.program(), data, enable_etdump,
                                                        debug_buffer_size);
  };
  m.def(
      "_load_for_executorch_from_bundled_program",
      [load](const PyBundledModule& bundle, const std::optional<py::bytes>& data, bool etdump,
             size_t debug_buffer_size) {
        return load(bundle, py::cast(data), etdump, debug_buffer_size);
      },
      py::arg("ptr"), py::arg("data_map_buffer") = std::nullopt, py::arg("enable_etdump") = false,
      py::arg("debug_buffer_size") = 0,
      "The program alone, as an ExecuTorchModule, with the bytes of a data file if it has one.");
  m.def(
      "_load_for_executorch_from_bundled_program",
      [load](const PyBundledModule& bundle, const Path& data_path, bool etdump,
             size_t debug_buffer_size) {
        const auto path = py::module_::import("pathlib").attr("Path")(data_path.text);
        return load(bundle, path.attr("read_bytes")(), etdump, debug_buffer_size);
      },
      py::arg("ptr"), py::arg("data_path"), py::arg("enable_etdump") = false,
      py::arg("debug_buffer_size") = 0);
}

}  // namespace executorch::extension::pybindings
