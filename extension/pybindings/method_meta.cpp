// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/method_meta.h>

#include <string>
#include <string_view>
#include <vector>

#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::runtime::MethodMeta;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::SizeRange;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

namespace {

using GetTag = Result<Tag> (MethodMeta::*)(size_t) const;
using GetInfo = Result<TensorInfo> (MethodMeta::*)(size_t) const;
using GetName = std::string_view (MethodMeta::*)(size_t) const;
using GetRange = Result<SizeRange> (MethodMeta::*)(size_t, size_t) const;

// The inputs of a method, or its outputs.
struct Side {
  const char* kind;
  size_t (MethodMeta::*count)() const;
  GetTag tag;
  GetInfo info;
  GetName name;
  GetRange range;
};

constexpr Side kInputs = {"input",
                          &MethodMeta::num_inputs,
                          &MethodMeta::input_tag,
                          &MethodMeta::input_tensor_meta,
                          &MethodMeta::input_name,
                          &MethodMeta::input_size_range};
constexpr Side kOutputs = {"output",
                           &MethodMeta::num_outputs,
                           &MethodMeta::output_tag,
                           &MethodMeta::output_tensor_meta,
                           &MethodMeta::output_name,
                           &MethodMeta::output_size_range};

struct PyTensorInfo {
  TensorInfo info;
  std::vector<SizeRange> ranges;
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

// Of each dimension of a tensor that is one.
std::vector<SizeRange> ranges_of(const MethodMeta& meta, const Side& side, size_t index,
                                 const TensorInfo& info) {
  std::vector<SizeRange> ranges;
  for (size_t i = 0; i < info.sizes().size(); ++i) {
    const auto range = (meta.*side.range)(index, i);
    ranges.push_back(range.ok() ? range.get() : SizeRange{info.sizes()[i], info.sizes()[i]});
  }
  return ranges;
}

[[noreturn]] void fail_index(const PyMethodMeta& method, const std::string& kind, size_t index) {
  throw py::index_error("Cannot get " + kind + " tensor meta at " + std::to_string(index) +
                        ": method " + signature(method.meta));
}

// Throws IndexError unless the value is a tensor.
PyTensorInfo tensor_meta(const PyMethodMeta& method, const Side& side, size_t index) {
  const LogCapture capture;
  const auto info = (method.meta.*side.info)(index);
  if (!info.ok()) {
    fail_index(method, side.kind, index);
  }
  return {info.get(), ranges_of(method.meta, side, index, info.get()), method.owner};
}

PyTensorInfo attribute_meta(const PyMethodMeta& method, size_t index) {
  const LogCapture capture;
  const auto info = method.meta.attribute_tensor_meta(index);
  if (!info.ok()) {
    fail_index(method, "attribute", index);
  }
  PyTensorInfo found{info.get(), {}, method.owner};
  for (const int32_t size : found.info.sizes()) {
    found.ranges.push_back({size, size});
  }
  return found;
}

py::list size_ranges(const PyTensorInfo& tensor) {
  py::list ranges;
  for (const SizeRange& range : tensor.ranges) {
    ranges.append(py::make_tuple(range.min, range.max));
  }
  return ranges;
}

py::list names(const PyMethodMeta& method, const Side& side) {
  py::list found;
  for (size_t i = 0; i < (method.meta.*side.count)(); ++i) {
    found.append(
        decode_utf8((method.meta.*side.name)(i), std::string("The name of an ") + side.kind));
  }
  return found;
}

// "[<=64, 3, 8..64]"; the least size is shown where it is above what every program takes.
std::string text_of(const std::vector<SizeRange>& ranges) {
  std::string text;
  for (const SizeRange& range : ranges) {
    const std::string most = std::to_string(range.max);
    text += text.empty() ? "" : ", ";
    text += range.min == range.max ? most
            : range.min <= 1       ? "<=" + most
                                   : std::to_string(range.min) + ".." + most;
  }
  return "[" + text + "]";
}

// "float32[<=2, 3]"
std::string in_short(const MethodMeta& meta, const Side& side, size_t index,
                     const TensorInfo& info) {
  const char* const name = find_dtype_name(info.scalar_type());
  return (name != nullptr ? name : executorch::runtime::toString(info.scalar_type())) +
         text_of(ranges_of(meta, side, index, info));
}

// Tensors as a signature has them, or in full; other values by their kind.
std::vector<std::string> describe_values(const MethodMeta& meta, const Side& side, bool in_full) {
  const LogCapture capture;  // asking for the tensor of another value logs an error
  std::vector<std::string> texts;
  for (size_t i = 0; i < (meta.*side.count)(); ++i) {
    const auto tag = (meta.*side.tag)(i);
    const auto info = (meta.*side.info)(i);
    if (info.ok()) {
      texts.push_back(in_full ? describe({info.get(), {}, py::none()})
                              : in_short(meta, side, i, info.get()));
    } else {
      texts.emplace_back(tag.ok() ? executorch::runtime::tag_to_string(tag.get()) : "unknown");
    }
  }
  return texts;
}

std::string join(const std::vector<std::string>& texts, const std::string& quote) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ", ") + quote + text + quote;
  }
  return joined;
}

// Control characters of a file as \x07, so that no terminal obeys them.
std::string printable(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      shown += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    } else {
      shown += c;
    }
  }
  return shown;
}

// "image: float32[1, 3], float32[4]"; the second has no name.
std::string named_values(const MethodMeta& meta, const Side& side) {
  std::vector<std::string> texts = describe_values(meta, side, /*in_full=*/false);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string_view name = (meta.*side.name)(i);
    texts[i] = name.empty() ? texts[i] : printable(name) + ": " + texts[i];
  }
  return join(texts, "");
}

std::string describe_method(const PyMethodMeta& method) {
  const MethodMeta& meta = method.meta;
  return "MethodMeta(name='" + printable(meta.name()) +
         "', num_inputs=" + std::to_string(meta.num_inputs()) + ", input_tensor_meta=[" +
         join(describe_values(meta, kInputs, /*in_full=*/true), "'") +
         "], num_outputs=" + std::to_string(meta.num_outputs()) + ", output_tensor_meta=[" +
         join(describe_values(meta, kOutputs, /*in_full=*/true), "'") + "])";
}

}  // namespace

std::string signature(const MethodMeta& meta) {
  const std::string outputs = named_values(meta, kOutputs);
  const bool is_one = meta.num_outputs() == 1 && meta.output_name(0).empty();
  return printable(meta.name()) + "(" + named_values(meta, kInputs) + ") -> " +
         (is_one ? outputs : "(" + outputs + ")");
}

std::vector<std::string> method_names(const Program& program) {
  const LogCapture capture;
  std::vector<std::string> names;
  for (size_t i = 0; i < program.num_methods(); ++i) {
    names.emplace_back(capture.take(program.get_method_name(i), "Cannot list the methods"));
  }
  return names;
}

void check_names(const Program& program, const std::string& what) {
  const LogCapture capture;
  const auto check = [&](std::string_view name, const char* of) {
    decode_utf8(name, "Cannot load " + what + ": the name of " + of);
  };
  for (const std::string& name : method_names(program)) {
    check(name, "a method");
    const auto meta = capture.take(program.method_meta(name.c_str()), "Cannot load " + what);
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      check(meta.input_name(i), "an input");
    }
    for (size_t i = 0; i < meta.num_outputs(); ++i) {
      check(meta.output_name(i), "an output");
    }
  }
}

py::str user_metadata(const Program& program) {
  return decode_utf8(program.user_metadata(), "The user metadata");
}

void bind_method_meta(py::module_& module) {
  py::class_<PyTensorInfo>(module, "TensorInfo", "What a program says about a tensor.",
                           py::module_local())
      .def("sizes", &sizes, "Its sizes; dynamic ones are at their largest.")
      .def("size_ranges", &size_ranges, "The least and the largest of each size.")
      .def(
          "dim_order", [](const PyTensorInfo& self) { return to_tuple(self.info.dim_order()); },
          "Its dimensions from outermost to innermost.")
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
      .def(
          "input_names", [](const PyMethodMeta& self) { return names(self, kInputs); },
          "The inputs' names, as in the model's signature; empty where the file has none.")
      .def(
          "output_names", [](const PyMethodMeta& self) { return names(self, kOutputs); },
          "The outputs' names, as in the model's dict or dataclass; empty where the file has none.")
      .def(
          "input_tensor_meta",
          [](const PyMethodMeta& self, size_t index) { return tensor_meta(self, kInputs, index); },
          py::arg("index"), "The TensorInfo of an input; IndexError if it is no tensor.")
      .def(
          "output_tensor_meta",
          [](const PyMethodMeta& self, size_t index) { return tensor_meta(self, kOutputs, index); },
          py::arg("index"), "The TensorInfo of an output; IndexError if it is no tensor.")
      .def("attribute_tensor_meta", &attribute_meta, py::arg("index"),
           "The TensorInfo of an attribute; IndexError if there is none.")
      .def(
          "_signature",
          [](const PyMethodMeta& self) { return decode_message(signature(self.meta)); },
          "On one line: forward(image: float32[<=2, 3]) -> float32[<=2, 3].")
      .def("__repr__",
           [](const PyMethodMeta& self) { return decode_message(describe_method(self)); });
}

}  // namespace executorch::extension::pybindings
