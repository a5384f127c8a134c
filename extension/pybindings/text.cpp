// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/text.h>

#include <executorch/extension/pybindings/log_capture.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

namespace {

// Null, with a Python error, if the text cannot be decoded.
py::object decode(std::string_view text, const char* errors) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), errors));
}

}  // namespace

py::str decode_utf8(std::string_view text, const std::string& what) {
  const py::object decoded = decode(text, "strict");
  if (!decoded) {
    PyErr_Clear();
    fail_argument(what + ": expected text in UTF-8, got \"" + to_text(decode_message(text)) +
                  "\". The file is corrupted, or another tool wrote it");
  }
  return py::str(decoded);
}

py::str decode_message(std::string_view text) {
  return py::str(decode(text, "backslashreplace"));
}

std::string to_text(py::handle value) {
  // A str may hold what UTF-8 cannot: parts of a path, for one.
  const py::object bytes = py::str(value).attr("encode")("utf-8", "backslashreplace");
  return bytes.cast<std::string>();
}

}  // namespace executorch::extension::pybindings
