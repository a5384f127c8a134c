// SPDX-License-Identifier: BSD-3-Clause
// The module executorch.backends.apple.coreml.executorchcoreml: directories as blobs, for the
// compiler and for tools.
#include <executorch/backends/apple/coreml/runtime/directory_blob.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>

namespace py = pybind11;
using namespace executorch::backends::coreml;

namespace {

py::bytes flatten(const std::string& path) {
  std::string blob;
  std::string error;
  if (!make_directory_blob(path, &blob, &error)) {
    throw std::runtime_error("Failed to flatten the directory: " + error);
  }
  return py::bytes(blob);
}

bool unflatten(const py::bytes& blob, const std::string& path) {
  std::string error;
  if (!write_directory(std::string_view(blob), path, &error)) {
    throw std::runtime_error("Failed to write the flattened directory: " + error);
  }
  return true;
}

/// Files of a blob by their paths below its root.
void collect(const std::vector<BlobNode>& nodes, size_t index, const std::string& path,
             py::dict* found) {
  const BlobNode& node = nodes[index];
  if (!node.is_directory) {
    (*found)[py::str(path)] = py::bytes(node.contents.data(), node.contents.size());
    return;
  }
  for (const auto& [name, child] : node.children) {
    collect(nodes, child, path.empty() ? name : path + "/" + name, found);
  }
}

py::dict read_files(const py::bytes& blob) {
  std::vector<BlobNode> nodes;
  std::string error;
  if (!read_directory_blob(std::string_view(blob), &nodes, &error)) {
    throw py::value_error(error);
  }
  py::dict found;
  collect(nodes, nodes.size() - 1, "", &found);
  return found;
}

}  // namespace

PYBIND11_MODULE(executorchcoreml, module) {
  module.doc() = "Core ML models as they stand in program files: a directory as one blob.";
  module.def("flatten_directory_contents", &flatten, py::arg("path"),
             "The directory at `path` as bytes; equal directories give equal bytes. RuntimeError "
             "for what cannot be "
             "read.");
  module.def("unflatten_directory_contents", &unflatten, py::arg("bytes"), py::arg("path"),
             "Writes a flattened directory into the folder `path`, under its own name. "
             "RuntimeError for corrupted "
             "bytes, and where something of that name is.");
  module.def(
      "read_files", &read_files, py::arg("bytes"),
      "Files of a flattened directory by their paths below it. ValueError for corrupted bytes.");
}
