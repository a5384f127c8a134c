// SPDX-License-Identifier: BSD-3-Clause
// QNN for Python: graphs that aot/native.py tells of become context binaries.
#include <executorch/backends/qualcomm/aot/graph_builder.h>
#include <executorch/extension/pybindings/log_capture.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace py = pybind11;
using namespace executorch::backends::qualcomm;
using executorch::extension::pybindings::LogCapture;

class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// RuntimeError with what was logged.
template <typename Get>
auto unwrapped(Get get) {
  const LogCapture capture;
  return capture.take(get(), "QNN cannot be used");
}

using Encoding =
    std::tuple<uint32_t, std::vector<float>, std::vector<int32_t>, int32_t, uint32_t, std::string>;
using Parameter = std::tuple<std::string, uint32_t, std::vector<uint32_t>, std::string>;

/// It holds what its constants are in.
class Graph {
 public:
  explicit Graph(const std::string& name) { data_.name = name; }

  void add_tensor(const std::string& name, uint32_t type, uint32_t dtype,
                  const std::vector<uint32_t>& dims, const std::optional<Encoding>& encoding,
                  const std::optional<py::buffer>& data) {
    TensorData made{name, type, dtype, dims, std::nullopt, nullptr, 0};
    if (encoding) {
      const auto& [kind, scales, offsets, axis, bitwidth, block_scales] = *encoding;
      made.encoding = EncodingData{kind, axis, bitwidth, scales, offsets, block_scales};
    }
    if (data) {
      buffers_.push_back(data->request());
      made.data = buffers_.back().ptr;
      made.nbytes = static_cast<size_t>(buffers_.back().size * buffers_.back().itemsize);
    }
    data_.tensors.push_back(std::move(made));
  }
  void add_operator(const std::string& name, const std::string& package, const std::string& type,
                    const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs,
                    const std::vector<Parameter>& parameters) {
    OperatorData made{name, package, type, inputs, outputs, {}};
    for (const auto& [each, dtype, dims, bytes] : parameters) {
      made.parameters.push_back({each, dtype, dims, bytes});
    }
    data_.operators.push_back(std::move(made));
  }
  void set_arguments(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
    data_.inputs = inputs;
    data_.outputs = outputs;
  }
  const GraphData& data() const { return data_; }

 private:
  GraphData data_;
  std::vector<py::buffer_info> buffers_;
};

/// One library with the options of a compile spec.
class Compiler {
 public:
  Compiler(const std::string& path, const std::string& spec) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(spec.data());
    if (read_compile_spec({bytes, spec.size()}, options_) != executorch::runtime::Error::Ok) {
      throw std::invalid_argument("options that are no compile spec");
    }
    const Library* library = unwrapped([&] { return find_library(options_.library_name(), path); });
    session_ = unwrapped([&] { return shared_session(*library, options_); });
  }

  std::string why_refused(const Graph& graph) const {
    return executorch::backends::qualcomm::why_refused(*session_, graph.data());
  }
  py::bytes compile(const std::vector<const Graph*>& graphs) const {
    std::vector<const GraphData*> all;
    for (const Graph* graph : graphs) {
      all.push_back(&graph->data());
    }
    std::string binary;
    const std::string why =
        executorch::backends::qualcomm::compile(*session_, options_, all, binary);
    if (!why.empty()) {
      throw Refused(why);
    }
    return py::bytes(binary);
  }

 private:
  Options options_;
  std::shared_ptr<Session> session_;
};

}  // namespace

PYBIND11_MODULE(_qnn, module) {
  executorch::extension::pybindings::route_messages();
  py::register_exception<Refused>(module, "Refused");
  module.attr("IS_STAND_IN") = kIsStandIn;
  py::class_<Graph>(module, "Graph")
      .def(py::init<const std::string&>())
      .def("add_tensor", &Graph::add_tensor)
      .def("add_operator", &Graph::add_operator)
      .def("set_arguments", &Graph::set_arguments);
  py::class_<Compiler>(module, "Compiler")
      .def(py::init<const std::string&, const std::string&>())
      .def("why_refused", &Compiler::why_refused)
      .def("compile", &Compiler::compile);
  module.def(
      "build_id",
      [](const std::string& path) {
        return unwrapped([&] { return find_library(path, path); })->build_id;
      },
      "Of the library at a path; RuntimeError when it cannot be used.");
}
