// SPDX-License-Identifier: BSD-3-Clause
// Blob and its binding.
#include <executorch/exir/_native/blob.h>

#include <cstring>
#include <memory>

namespace py = pybind11;

namespace executorch::exir {

Blob::Blob(const py::buffer& owner) : owner_(owner), view_(owner.request()) {
  py::ssize_t expected = view_.itemsize;
  for (py::ssize_t dim = view_.ndim - 1; dim >= 0; --dim) {
    if (view_.shape[dim] > 1 && view_.strides[dim] != expected) {
      throw py::value_error("expected contiguous bytes, found strides");
    }
    expected *= view_.shape[dim];
  }
}

py::buffer_info Blob::buffer_info() const {
  return py::buffer_info(data(), static_cast<py::ssize_t>(size()), true);
}

bool Blob::equals(const py::buffer& other) const {
  const py::buffer_info view = other.request();
  const size_t other_size = static_cast<size_t>(view.size * view.itemsize);
  return size() == other_size &&
         (data() == view.ptr || std::memcmp(data(), view.ptr, other_size) == 0);
}

bool Blob::any() const {
  const uint8_t* const bytes = data();
  return size() != 0 && (bytes[0] != 0 || std::memcmp(bytes, bytes + 1, size() - 1) != 0);
}

void bind_blob(py::module_& module) {
  py::class_<Blob>(
      module, "Blob", py::buffer_protocol(),
      "Read-only bytes of another object (kept alive), never copied on their way to a file.")
      .def(py::init<py::buffer>(), py::arg("owner"))
      .def_buffer([](Blob& blob) { return blob.buffer_info(); })
      .def("__len__", &Blob::size)
      .def("__bytes__",
           [](const Blob& blob) {
             return py::bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
           })
      .def("__eq__",
           [](const Blob& blob, const py::object& other) {
             return PyObject_CheckBuffer(other.ptr()) != 0 &&
                    blob.equals(py::reinterpret_borrow<py::buffer>(other));
           })
      .def("__hash__", [](const Blob& blob) { return py::hash(py::int_(blob.size())); })
      .def("__copy__", [](const py::object& self) { return self; })
      .def("__deepcopy__", [](const py::object& self, const py::object&) { return self; })
      .def("__reduce__",
           [](const py::object& self) {
             return py::make_tuple(
                 py::type::of(self),
                 py::make_tuple(py::reinterpret_steal<py::object>(PyBytes_FromObject(self.ptr()))));
           })
      .def("__repr__",
           [](const Blob& blob) { return "Blob(" + std::to_string(blob.size()) + " bytes)"; })
      .def("any", &Blob::any, "Whether any byte is not zero.")
      .def_property_readonly(
          "address", [](const Blob& blob) { return reinterpret_cast<uintptr_t>(blob.data()); },
          "Of the first byte.");
}

}  // namespace executorch::exir
