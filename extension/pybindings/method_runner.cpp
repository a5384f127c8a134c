// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/method_runner.h>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/torch_tensor.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::ArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Tag;

namespace {

std::string input_name(const std::string& method, size_t index) {
  return "Method " + method + ", input " + std::to_string(index);
}

// Calls function() without the interpreter lock.
template <typename Function>
auto without_lock(Function&& function) {
  const py::gil_scoped_release release;
  return function();
}

template <typename List>
py::list to_list(const List& list) {
  py::list result;
  for (const auto& item : list) {
    result.append(item);
  }
  return result;
}

}  // namespace

GuardedModule::Use::Use(GuardedModule& guarded) : guarded_(guarded) {
  if (guarded.in_use_) {
    throw RuntimeFailure(
        "This program's methods are running on another thread: load one per thread");
  }
  guarded.in_use_ = true;
}

MethodRunner::MethodRunner(std::shared_ptr<GuardedModule> module, const std::string& name)
    : module_(std::move(module)), name_(name) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
  const Error error = without_lock([&] { return use->load_method(name_); });
  capture.check(error, "Cannot load method " + name_);
}

EValue MethodRunner::convert_input(py::handle value, size_t index, Module& module) {
  const LogCapture capture;
  const std::string what = input_name(name_, index);
  const auto meta = capture.take(module.method_meta(name_), what);
  const Tag expected = capture.take(meta.input_tag(index), what);
  if (is_torch_tensor(value) && expected == Tag::Tensor) {
    const auto info = capture.take(meta.input_tensor_meta(index), what);
    input_tensors_.push_back(borrow_torch_tensor(value, info, what));
    return EValue(*input_tensors_.back());
  }
  if (value.is_none()) {
    return EValue();
  }
  if (py::isinstance<py::bool_>(value) && expected == Tag::Bool) {
    return EValue(value.cast<bool>());
  }
  if (py::isinstance<py::int_>(value) && expected == Tag::Int) {
    return EValue(value.cast<int64_t>());
  }
  if ((py::isinstance<py::float_>(value) || py::isinstance<py::int_>(value)) &&
      expected == Tag::Double) {
    return EValue(value.cast<double>());
  }
  if (py::isinstance<py::str>(value) && expected == Tag::String) {
    auto stored = std::make_unique<std::pair<std::string, ArrayRef<char>>>();
    stored->first = value.cast<std::string>();
    stored->second = ArrayRef<char>(stored->first.data(), stored->first.size());
    input_strings_.push_back(std::move(stored));
    return EValue(&input_strings_.back()->second);
  }
  fail_argument(what + ": expected a value of kind " +
                executorch::runtime::tag_to_string(expected) +
                (expected == Tag::Tensor ? " (torch.Tensor)" : "") + ", got " +
                py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>());
}

void MethodRunner::set_inputs(const py::sequence& inputs) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
  const auto meta = capture.take(use->method_meta(name_), "Method " + name_);
  if (inputs.size() != meta.num_inputs()) {
    fail_argument("Method " + name_ + ": expected " + std::to_string(meta.num_inputs()) +
                  " inputs, got " + std::to_string(inputs.size()));
  }
  input_owners_.clear();
  input_tensors_.clear();
  input_strings_.clear();
  inputs_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    py::object value = inputs[i];
    input_owners_.push_back(is_torch_tensor(value) ? plain_torch_tensor(value, input_name(name_, i))
                                                   : std::move(value));
    inputs_.push_back(convert_input(input_owners_.back(), i, *use));
  }
}

void MethodRunner::prepare_outputs(Module& module) {
  const LogCapture capture;
  const std::string what = "Method " + name_ + ": cannot give memory to the outputs";
  const auto meta = capture.take(module.method_meta(name_), what);
  output_memory_.clear();
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    if (capture.take(meta.output_tag(i), what) != Tag::Tensor) {
      continue;
    }
    const auto info = capture.take(meta.output_tensor_meta(i), what);
    if (info.is_memory_planned() || info.nbytes() == 0) {
      continue;
    }
    py::object memory = make_output_memory(info.nbytes());
    const TensorPtr tensor = make_tensor_ptr({info.sizes().begin(), info.sizes().end()},
                                             torch_data_ptr(memory), info.scalar_type());
    capture.check(module.set_output(name_, EValue(*tensor), i), what);
    output_memory_.push_back(std::move(memory));
  }
}

void MethodRunner::execute() {
  const GuardedModule::Use use(*module_);
  prepare_outputs(*use);
  const LogCapture capture;
  const Error error = without_lock([&] { return use->execute(name_, inputs_).error(); });
  capture.check(error, "Method " + name_ + " failed");
}

py::object MethodRunner::convert_output(const EValue& value, const py::object& owner,
                                        bool clone_outputs) {
  switch (value.tag) {
    case Tag::None:
      return py::none();
    case Tag::Int:
      return py::int_(value.toInt());
    case Tag::Double:
      return py::float_(value.toDouble());
    case Tag::Bool:
      return py::bool_(value.toBool());
    case Tag::String:
      return py::str(std::string(value.toString()));
    case Tag::ListInt:
      return to_list(value.toIntList());
    case Tag::ListDouble:
      return to_list(value.toDoubleList());
    case Tag::ListBool:
      return to_list(value.toBoolList());
    case Tag::ListTensor: {
      py::list result;
      for (const Tensor& tensor : value.toTensorList()) {
        result.append(convert_output(EValue(tensor), owner, clone_outputs));
      }
      return result;
    }
    case Tag::Tensor:
      break;
    default:
      fail_argument(std::string("An output of kind ") +
                    executorch::runtime::tag_to_string(value.tag) +
                    " has no counterpart in Python");
  }
  const Tensor& tensor = value.toTensor();
  for (const py::object& memory : output_memory_) {
    if (torch_data_ptr(memory) == tensor.const_data_ptr()) {
      return view_memory(tensor, memory);
    }
  }
  return clone_outputs ? copy_to_torch(tensor) : share_with_torch(tensor, owner);
}

py::list MethodRunner::get_outputs(const py::object& owner, bool clone_outputs) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
  const std::vector<EValue> values =
      capture.take(use->get_outputs(name_), "Method " + name_ + ": cannot get the outputs");
  py::list outputs;
  for (const EValue& value : values) {
    outputs.append(convert_output(value, owner, clone_outputs));
  }
  return outputs;
}

py::list MethodRunner::run(const py::sequence& inputs, const py::object& owner,
                           bool clone_outputs) {
  set_inputs(inputs);
  execute();
  return get_outputs(owner, clone_outputs);
}

py::object MethodRunner::get_attribute(const std::string& name) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the one way to a method's attributes
  const auto method = use->method(name_);
#pragma GCC diagnostic pop
  capture.check(method.error(), "Method " + name_);
  const auto tensor = capture.take(method.get()->get_attribute(name),
                                   "Method " + name_ + " has no attribute " + name);
  return copy_to_torch(tensor);
}

}  // namespace executorch::extension::pybindings
