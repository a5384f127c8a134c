// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/method_meta.h>

#include <string>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::runtime::MethodMeta;
using executorch::runtime::Result;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

namespace {

struct PyTensorInfo {
  TensorInfo info;
  py::object owner;
};

py::tuple sizes(const PyTensorInfo& tensor) {
  const auto list = tensor.info.sizes();
  py::tuple result(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    result[i] = list[i];
  }
  return result;
}

std::string describe(const PyTensorInfo& tensor) {
  return "TensorInfo(sizes=" + py::str(py::list(sizes(tensor))).cast<std::string>() +
         ", dtype=" + executorch::runtime::toString(tensor.info.scalar_type()) +
         ", is_memory_planned=" + (tensor.info.is_memory_planned() ? "True" : "False") +
         ", nbytes=" + std::to_string(tensor.info.nbytes()) + ")";
}

using GetInfo = Result<TensorInfo> (MethodMeta::*)(size_t) const;

template <GetInfo get_info>
PyTensorInfo tensor_meta(const PyMethodMeta& method, size_t index) {
  const LogCapture capture;
  return {capture.take((method.meta.*get_info)(index), "No tensor " + std::to_string(index)),
          method.owner};
}

using GetTag = Result<Tag> (MethodMeta::*)(size_t) const;

// Tensors with their metadata, other values by their kind.
template <GetTag get_tag, GetInfo get_info>
std::string describe_values(const PyMethodMeta& method, size_t count) {
  py::list items;
  for (size_t i = 0; i < count; ++i) {
    const auto info = (method.meta.*get_tag)(i);
    if (info.ok() && info.get() == Tag::Tensor) {
      items.append(describe(tensor_meta<get_info>(method, i)));
    } else {
      items.append(info.ok() ? executorch::runtime::tag_to_string(info.get()) : "unknown");
    }
  }
  return py::str(items).cast<std::string>();
}

std::string describe_method(const PyMethodMeta& method) {
  const MethodMeta& meta = method.meta;
  return std::string("MethodMeta(name='") + meta.name() +
         "', num_inputs=" + std::to_string(meta.num_inputs()) + ", input_tensor_meta=" +
         describe_values<&MethodMeta::input_tag, &MethodMeta::input_tensor_meta>(
             method, meta.num_inputs()) +
         ", num_outputs=" + std::to_string(meta.num_outputs()) + ", output_tensor_meta=" +
         describe_values<&MethodMeta::output_tag, &MethodMeta::output_tensor_meta>(
             method, meta.num_outputs()) +
         ")";
}

}  // namespace

void bind_method_meta(py::module_& module) {
  py::class_<PyTensorInfo>(module, "TensorInfo", py::module_local())
      .def("sizes", &sizes)
      .def("dtype",
           [](const PyTensorInfo& self) { return static_cast<int>(self.info.scalar_type()); })
      .def("is_memory_planned",
           [](const PyTensorInfo& self) { return self.info.is_memory_planned(); })
      .def("nbytes", [](const PyTensorInfo& self) { return self.info.nbytes(); })
      .def("__repr__", &describe);
  py::class_<PyMethodMeta>(module, "MethodMeta", py::module_local())
      .def("name", [](const PyMethodMeta& self) { return std::string(self.meta.name()); })
      .def("num_inputs", [](const PyMethodMeta& self) { return self.meta.num_inputs(); })
      .def("num_outputs", [](const PyMethodMeta& self) { return self.meta.num_outputs(); })
      .def("num_attributes", [](const PyMethodMeta& self) { return self.meta.num_attributes(); })
      .def("input_tensor_meta", &tensor_meta<&MethodMeta::input_tensor_meta>, py::arg("index"))
      .def("output_tensor_meta", &tensor_meta<&MethodMeta::output_tensor_meta>, py::arg("index"))
      .def("attribute_tensor_meta", &tensor_meta<&MethodMeta::attribute_tensor_meta>,
           py::arg("index"))
      .def("__repr__", &describe_method);
}

}  // namespace executorch::extension::pybindings
