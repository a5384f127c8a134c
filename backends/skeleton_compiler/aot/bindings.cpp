// SPDX-License-Identifier: BSD-3-Clause
// The vendor's C API for Python, as far as the compiler needs it.
#include <executorch/backends/skeleton_compiler/runtime/library.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace py = pybind11;
using executorch::backends::skeleton_compiler::Api;
using executorch::backends::skeleton_compiler::find_library;
using executorch::backends::skeleton_compiler::library;
using executorch::backends::skeleton_compiler::version_text;

class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// ExternalCompiler asks for version() first.
const Api& api() {
  const auto found = library();
  if (!found.ok()) {
    throw std::runtime_error("the vendor's library is not here");
  }
  return **found;
}

void check(vendor_status status) {
  if (status != VENDOR_OK) {
    throw Refused(api().vendor_last_error());
  }
}

/// Such as "2.1"; empty without the library.
std::string version() {
  const auto found = find_library();
  return found.ok() ? version_text((*found)->vendor_version()) : "";
}

class Graph {
 public:
  explicit Graph(const std::string& name) {
    check(api().vendor_graph_create(name.c_str(), &graph_));
  }
  ~Graph() { api().vendor_graph_free(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t tensor(vendor_role role, vendor_dtype dtype, const std::vector<int64_t>& sizes,
                  const std::vector<float>& scales, const py::object& data) {
    const vendor_tensor tensor = {role,
                                  dtype,
                                  sizes.size(),
                                  scales.size(),
                                  sizes.data(),
                                  scales.data(),
                                  data.is_none() ? nullptr : PyBytes_AsString(data.ptr())};
    uint32_t id = 0;
    check(api().vendor_graph_add_tensor(graph_, &tensor, &id));
    return id;
  }
  void validate(const std::string& device, vendor_kind kind, const std::vector<uint32_t>& inputs,
                uint32_t output) const {
    const vendor_op op = {kind, inputs.size(), inputs.data(), output};
    check(api().vendor_graph_validate(graph_, device.c_str(), &op));
  }
  void op(vendor_kind kind, const std::vector<uint32_t>& inputs, uint32_t output) {
    const vendor_op op = {kind, inputs.size(), inputs.data(), output};
    check(api().vendor_graph_add_op(graph_, &op));
  }
  void set_outputs(const std::vector<uint32_t>& ids) {
    check(api().vendor_graph_set_outputs(graph_, ids.data(), ids.size()));
  }
  vendor_graph* get() const { return graph_; }

 private:
  vendor_graph* graph_ = nullptr;
};

py::bytes compile(const std::vector<const Graph*>& graphs, const std::string& device,
                  uint64_t max_bytes) {
  std::vector<vendor_graph*> all;
  for (const Graph* graph : graphs) {
    all.push_back(graph->get());
  }
  void* made = nullptr;
  size_t size = 0;
  check(api().vendor_compile(all.data(), all.size(), device.c_str(), max_bytes, &made, &size));
  py::bytes bytes(static_cast<const char*>(made), size);
  api().vendor_bytes_free(made);
  return bytes;
}

}  // namespace

PYBIND11_MODULE(_skeleton_compiler, module) {
  py::register_exception<Refused>(module, "Refused");
  py::enum_<vendor_dtype>(module, "Dtype")
      .value("FLOAT32", VENDOR_FLOAT32)
      .value("INT16", VENDOR_INT16)
      .value("INT32", VENDOR_INT32)
      .value("INT4", VENDOR_INT4);
  py::enum_<vendor_role>(module, "Role")
      .value("INPUT", VENDOR_INPUT)
      .value("VALUE", VENDOR_VALUE)
      .value("CONSTANT", VENDOR_CONSTANT);
  py::enum_<vendor_kind>(module, "Kind")
      .value("ADD", VENDOR_ADD)
      .value("MUL", VENDOR_MUL)
      .value("FULLY_CONNECTED", VENDOR_FULLY_CONNECTED);
  py::class_<Graph>(module, "Graph")
      .def(py::init<const std::string&>())
      .def("tensor", &Graph::tensor)
      .def("validate", &Graph::validate)
      .def("op", &Graph::op)
      .def("set_outputs", &Graph::set_outputs);
  module.def("version", &version);
  module.def("compile", &compile);
}
