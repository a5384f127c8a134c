// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::Tensor;

namespace {

// Kept for good: every call asks for it.
py::handle torch() {
  static PyObject* module = nullptr;
  if (module == nullptr) {
    module = py::module_::import("torch").release().ptr();
  }
  return module;
}

py::object torch_dtype(executorch::aten::ScalarType type) {
  return torch().attr(dtype_name(type));
}

std::vector<int64_t> to_numbers(py::handle list) {
  std::vector<int64_t> numbers;
  for (py::handle number : list) {
    numbers.push_back(number.cast<int64_t>());
  }
  return numbers;
}

// Memory of a method, as a Python buffer.
struct MethodMemory {
  void* data;
  size_t size;
  py::object owner;
};

[[noreturn]] void fail_without_memory(py::handle tensor, const std::string& what) {
  if (tensor.attr("is_nested").cast<bool>()) {
    fail_argument(what + ": expected a tensor with one shape, got a nested one. Pad it with " +
                  "torch.nested.to_padded_tensor()");
  }
  const py::object layout = tensor.attr("layout");
  if (!layout.is(py::object(torch().attr("strided")))) {
    fail_argument(what + ": expected a dense tensor (torch.strided), got one of layout " +
                  to_text(layout) + ". Call .to_dense()");
  }
  if (!tensor.attr("is_cpu").cast<bool>()) {
    fail_argument(what + ": expected a tensor on the CPU, got one on " +
                  to_text(tensor.attr("device")));
  }
  fail_argument(what + ": expected a tensor with data, got a " +
                to_text(py::type::handle_of(tensor).attr("__name__")) +
                " without memory (fake, or freed). Pass a real tensor");
}

// Whether its numbers lie in this processor's memory.
bool has_memory(py::handle tensor) {
  try {
    return tensor.attr("is_cpu").cast<bool>() &&
           (tensor.attr("data_ptr")().cast<uintptr_t>() != 0 ||
            tensor.attr("numel")().cast<int64_t>() == 0);
  } catch (const py::error_already_set&) {  // what torch says of data that it cannot show
    return false;
  }
}

class TorchLibrary final : public ArrayLibrary {
 public:
  const char* name() const override { return "torch"; }

  bool owns(py::handle value) const override {
    static PyObject* type = nullptr;
    if (type == nullptr) {
      // A tensor can exist only if torch is imported already.
      const py::dict modules = py::module_::import("sys").attr("modules");
      if (!modules.contains("torch")) {
        return false;
      }
      type = modules["torch"].attr("Tensor").cast<py::object>().release().ptr();
    }
    return py::isinstance(value, type);
  }

  py::object plain(py::handle tensor, const std::string& what) const override {
    if (!has_memory(tensor) || tensor.attr("is_nested").cast<bool>()) {
      fail_without_memory(tensor, what);
    }
    if (tensor.attr("is_conj")().cast<bool>() || tensor.attr("is_neg")().cast<bool>()) {
      return tensor.attr("resolve_conj")().attr("resolve_neg")();
    }
    return py::reinterpret_borrow<py::object>(tensor);
  }

  ArrayView look_at(py::handle tensor) const override {
    constexpr std::string_view kPrefix = "torch.";
    return {to_text(tensor.attr("dtype")).substr(kPrefix.size()), to_numbers(tensor.attr("shape")),
            to_numbers(tensor.attr("stride")()), data(tensor)};
  }

  std::string advice_dtype(const char* dtype) const override {
    return std::string(".to(torch.") + dtype + ")";
  }

  std::string advice_strides() const override {
    return "Call .contiguous() (or .to(memory_format=...) if the model was exported with another "
           "memory format)";
  }

  py::object make_memory(size_t num_bytes) const override {
    return torch().attr("empty")(num_bytes, py::arg("dtype") = torch().attr("uint8"));
  }

  void* data(py::handle tensor) const override {
    return reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<uintptr_t>());
  }

  py::object view(const Tensor& tensor, const py::object& memory) const override {
    return memory.attr("view")(torch_dtype(tensor.scalar_type()))
        .attr("as_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()));
  }

  py::object copy(const Tensor& tensor) const override {
    py::object copy =
        torch().attr("empty_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()),
                                      py::arg("dtype") = torch_dtype(tensor.scalar_type()));
    if (tensor.nbytes() > 0) {
      std::memcpy(data(copy), tensor.const_data_ptr(), tensor.nbytes());
    }
    return copy;
  }

  py::object share(const Tensor& tensor, const py::object& owner) const override {
    if (tensor.nbytes() == 0) {
      return copy(tensor);
    }
    const py::object memory =
        py::cast(MethodMemory{tensor.mutable_data_ptr(), tensor.nbytes(), owner});
    return torch()
        .attr("frombuffer")(memory, py::arg("dtype") = torch_dtype(tensor.scalar_type()))
        .attr("as_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()));
  }
};

}  // namespace

const ArrayLibrary& torch_library() {
  static const TorchLibrary library;
  return library;
}

void bind_torch_tensor(py::module_& module) {
  py::class_<MethodMemory>(module, "_MethodMemory", py::buffer_protocol(), py::module_local())
      .def_buffer([](MethodMemory& memory) {
        return py::buffer_info(static_cast<uint8_t*>(memory.data),
                               static_cast<py::ssize_t>(memory.size));
      });
}

}  // namespace executorch::extension::pybindings
