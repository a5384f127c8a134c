// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/method_meta.h>

#include <string>
#include <vector>

#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

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
  return to_tuple(tensor.info.sizes());
}

std::string list_of_sizes(const TensorInfo& info) {
  return to_text(py::list(to_tuple(info.sizes())));
}

std::string describe(const PyTensorInfo& tensor) {
  return "TensorInfo(sizes=" + list_of_sizes(tensor.info) +
         ", dtype=" + executorch::runtime::toString(tensor.info.scalar_type()) +
         ", is_memory_planned=" + (tensor.info.is_memory_planned() ? "True" : "False") +
         ", nbytes=" + std::to_string(tensor.info.nbytes()) + ")";
}

using GetInfo = Result<TensorInfo> (MethodMeta::*)(size_t) const;

// Throws IndexError unless the value is a tensor.
PyTensorInfo tensor_meta(const PyMethodMeta& method, const char* kind, GetInfo get_info,
                         size_t index) {
  const LogCapture capture;
  const auto info = (method.meta.*get_info)(index);
  if (!info.ok()) {
    throw py::index_error("Cannot get " + std::string(kind) + " tensor meta at " +
                          std::to_string(index) + ": method " + signature(method.meta));
  }
  return {info.get(), method.owner};
}

PyTensorInfo input_meta(const PyMethodMeta& method, size_t index) {
  return tensor_meta(method, "input", &MethodMeta::input_tensor_meta, index);
}

PyTensorInfo output_meta(const PyMethodMeta& method, size_t index) {
  return tensor_meta(method, "output", &MethodMeta::output_tensor_meta, index);
}

PyTensorInfo attribute_meta(const PyMethodMeta& method, size_t index) {
  return tensor_meta(method, "attribute", &MethodMeta::attribute_tensor_meta, index);
}

using GetTag = Result<Tag> (MethodMeta::*)(size_t) const;

using DescribeTensor = std::string (*)(const TensorInfo&);

// Tensors by a function, other values by their kind.
std::vector<std::string> describe_values(const MethodMeta& meta, size_t count, GetTag get_tag,
                                         GetInfo get_info, DescribeTensor describe_tensor) {
  const LogCapture capture;  // asking for the tensor of another value logs an error
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const auto tag = (meta.*get_tag)(i);
    const auto info = (meta.*get_info)(i);
    texts.emplace_back(info.ok()  ? describe_tensor(info.get())
                       : tag.ok() ? executorch::runtime::tag_to_string(tag.get())
                                  : "unknown");
  }
  return texts;
}

std::vector<std::string> describe_inputs(const MethodMeta& meta, DescribeTensor describe_tensor) {
  return describe_values(meta, meta.num_inputs(), &MethodMeta::input_tag,
                         &MethodMeta::input_tensor_meta, describe_tensor);
}

std::vector<std::string> describe_outputs(const MethodMeta& meta, DescribeTensor describe_tensor) {
  return describe_values(meta, meta.num_outputs(), &MethodMeta::output_tag,
                         &MethodMeta::output_tensor_meta, describe_tensor);
}

std::string join(const std::vector<std::string>& texts, const std::string& quote) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ", ") + quote + text + quote;
  }
  return joined;
}

std::string in_full(const TensorInfo& info) {
  return describe({info, py::none()});
}

// "float32[2, 3]"
std::string in_short(const TensorInfo& info) {
  const char* const name = find_dtype_name(info.scalar_type());
  return (name != nullptr ? name : executorch::runtime::toString(info.scalar_type())) +
         list_of_sizes(info);
}

std::string describe_method(const PyMethodMeta& method) {
  const MethodMeta& meta = method.meta;
  return std::string("MethodMeta(name='") + meta.name() +
         "', num_inputs=" + std::to_string(meta.num_inputs()) + ", input_tensor_meta=[" +
         join(describe_inputs(meta, in_full), "'") +
         "], num_outputs=" + std::to_string(meta.num_outputs()) + ", output_tensor_meta=[" +
         join(describe_outputs(meta, in_full), "'") + "])";
}

}  // namespace

std::string signature(const MethodMeta& meta) {
  const std::string outputs = join(describe_outputs(meta, in_short), "");
  return std::string(meta.name()) + "(" + join(describe_inputs(meta, in_short), "") + ") -> " +
         (meta.num_outputs() == 1 ? outputs : "(" + outputs + ")");
}

void bind_method_meta(py::module_& module) {
  py::class_<PyTensorInfo>(module, "TensorInfo", "What a program says about a tensor.",
                           py::module_local())
      .def("sizes", &sizes, "Its sizes; dynamic ones are at their largest.")
      .def(
          "name",
          [](const PyTensorInfo& self) {
            return decode_utf8(self.info.name(), "The name of a tensor");
          },
          "The name of an attribute; empty for other tensors.")
      .def(
          "dtype",
          [](const PyTensorInfo& self) { return static_cast<int>(self.info.scalar_type()); },
          "The number of its element type: 6 is float32.")
      .def(
          "is_memory_planned",
          [](const PyTensorInfo& self) { return self.info.is_memory_planned(); },
          "Whether the program has memory for it; otherwise the caller's is used.")
      .def(
          "nbytes", [](const PyTensorInfo& self) { return self.info.nbytes(); },
          "The bytes of its elements.")
      .def("__repr__", &describe);
  py::class_<PyMethodMeta>(module, "MethodMeta", "What a program says about a method.",
                           py::module_local())
      .def(
          "name",
          [](const PyMethodMeta& self) { return decode_utf8(self.meta.name(), "A method's name"); },
          "The method's name.")
      .def(
          "num_inputs", [](const PyMethodMeta& self) { return self.meta.num_inputs(); },
          "The number of inputs.")
      .def(
          "num_outputs", [](const PyMethodMeta& self) { return self.meta.num_outputs(); },
          "The number of outputs.")
      .def(
          "num_attributes", [](const PyMethodMeta& self) { return self.meta.num_attributes(); },
          "The number of attributes: buffers that can be read by name.")
      .def("input_tensor_meta", &input_meta, py::arg("index"),
           "The TensorInfo of an input; IndexError if it is no tensor.")
      .def("output_tensor_meta", &output_meta, py::arg("index"),
           "The TensorInfo of an output; IndexError if it is no tensor.")
      .def("attribute_tensor_meta", &attribute_meta, py::arg("index"),
           "The TensorInfo of an attribute; IndexError if there is none.")
      .def(
          "_signature",
          [](const PyMethodMeta& self) { return decode_message(signature(self.meta)); },
          "On one line: forward(float32[2, 3]) -> float32[2, 3].")
      .def("__repr__",
           [](const PyMethodMeta& self) { return decode_message(describe_method(self)); });
}

}  // namespace executorch::extension::pybindings
