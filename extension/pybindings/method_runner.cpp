// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/method_runner.h>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/method_meta.h>
#include <executorch/extension/pybindings/text.h>

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

// A scalar of NumPy of this kind.
bool is_numpy(py::handle value, const char* kind) {
  const py::dict modules = py::module_::import("sys").attr("modules");
  return modules.contains("numpy") && py::isinstance(value, modules["numpy"].attr(kind));
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

// Numbers of Python, and those of NumPy that are none of Python's.
bool is_bool(py::handle value) {
  return py::isinstance<py::bool_>(value) || is_numpy(value, "bool_");
}

bool is_int(py::handle value) {
  return py::isinstance<py::int_>(value) || is_numpy(value, "integer");
}

bool is_float(py::handle value) {
  return py::isinstance<py::float_>(value) || is_numpy(value, "floating");
}

int64_t to_int64(py::handle value, const std::string& what) {
  const py::int_ number(py::reinterpret_borrow<py::object>(value));
  int overflow = 0;
  const long long result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    fail_argument(what + ": expected an integer of 64 bits, got " + to_text(number));
  }
  return result;
}

std::string type_name(py::handle value) {
  return to_text(py::type::handle_of(value).attr("__name__"));
}

// What a caller often means who gives a nested input.
std::string advice_for_nested(py::handle value) {
  const bool is_nested = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value) ||
                         py::isinstance<py::dict>(value);
  return is_nested ? ". Inputs are a flat list: give the leaves of nested ones one by one, in the "
                     "order of torch.utils._pytree.tree_leaves"
                   : "";
}

// Likewise who gives another value than a tensor.
std::string advice_for(py::handle value) {
  if (is_numpy(value, "generic")) {
    return ". Call numpy.asarray(...) on it";
  }
  if (is_int(value) || is_float(value)) {
    return ". Call torch.tensor(...) on it";
  }
  return advice_for_nested(value);
}

}  // namespace

GuardedModule::Use::Use(GuardedModule& guarded) : guarded_(guarded) {
  if (guarded.in_use()) {
    throw RuntimeFailure(
        guarded.tracing_ == nullptr
            ? "This program's methods are running on another thread: load one per thread"
            : "This program's methods are running on another thread: with enable_etdump one thread "
              "runs them all");
  }
  guarded.in_use() = true;
}

MethodRunner::MethodRunner(std::shared_ptr<GuardedModule> module, const std::string& name)
    : module_(std::move(module)), name_(name) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
  const Error error =
      without_lock([&] { return use->load_method(name_, nullptr, module_->tracer()); });
  capture.check(error, "Cannot load method " + name_);
}

EValue MethodRunner::convert_input(py::handle value, size_t index, Module& module,
                                   Inputs* inputs) const {
  const LogCapture capture;
  const std::string what = input_name(name_, index);
  const auto meta = capture.take(module.method_meta(name_), what);
  const Tag expected = capture.take(meta.input_tag(index), what);
  if (const ArrayLibrary* library = library_of(value); library && expected == Tag::Tensor) {
    const auto info = capture.take(meta.input_tensor_meta(index), what);
    inputs->tensors.push_back(borrow_tensor(*library, value, info, what));
    if (inputs->library != &torch_library()) {
      inputs->library = library;
    }
    return EValue(*inputs->tensors.back());
  }
  if (value.is_none()) {
    return EValue();
  }
  if (is_bool(value) && expected == Tag::Bool) {
    return EValue(py::bool_(py::reinterpret_borrow<py::object>(value)).cast<bool>());
  }
  if (is_int(value) && expected == Tag::Int) {
    return EValue(to_int64(value, what));
  }
  if ((is_float(value) || is_int(value)) && expected == Tag::Double) {
    return EValue(py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
  }
  if (py::isinstance<py::str>(value) && expected == Tag::String) {
    auto stored = std::make_unique<std::pair<std::string, ArrayRef<char>>>();
    stored->first = value.cast<std::string>();
    stored->second = ArrayRef<char>(stored->first.data(), stored->first.size());
    inputs->strings.push_back(std::move(stored));
    return EValue(&inputs->strings.back()->second);
  }
  fail_argument(what + ": expected a value of kind " +
                executorch::runtime::tag_to_string(expected) +
                (expected == Tag::Tensor ? " (torch.Tensor or numpy.ndarray)" : "") + ", got " +
                type_name(value) + (expected == Tag::Tensor ? advice_for(value) : ""));
}

void MethodRunner::set_inputs(const py::sequence& inputs) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
  const auto meta = capture.take(use->method_meta(name_), "Method " + name_);
  if (inputs.size() != meta.num_inputs()) {
    std::string advice;
    for (const py::handle value : inputs) {
      advice = advice.empty() ? advice_for_nested(value) : advice;
    }
    fail_argument("Method " + signature(meta) + ": expected " + std::to_string(meta.num_inputs()) +
                  " inputs, got " + std::to_string(inputs.size()) + advice);
  }
  Inputs next;
  for (size_t i = 0; i < inputs.size(); ++i) {
    py::object value = inputs[i];
    const ArrayLibrary* const library = library_of(value);
    next.owners.push_back(library != nullptr ? library->plain(value, input_name(name_, i)) : value);
    next.values.push_back(convert_input(next.owners.back(), i, *use, &next));
  }
  inputs_ = std::move(next);
}

const ArrayLibrary& MethodRunner::library() const {
  return inputs_.library != nullptr ? *inputs_.library : default_library();
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
    py::object memory = library().make_memory(info.nbytes());
    const TensorPtr tensor = make_tensor_ptr({info.sizes().begin(), info.sizes().end()},
                                             library().data(memory), info.scalar_type());
    capture.check(module.set_output(name_, EValue(*tensor), i), what);
    output_memory_.push_back(std::move(memory));
  }
}

void MethodRunner::execute() {
  execute([this](Module& module) { return module.execute(name_, inputs_.values).error(); });
}

void MethodRunner::execute(const std::function<Error(Module&)>& run) {
  const GuardedModule::Use use(*module_);
  prepare_outputs(*use);
  const LogCapture capture;
  const Error error = without_lock([&] { return run(*use); });
  capture.check(error, "Failed to execute method " + name_);
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
      return decode_utf8(value.toString(), "An output of method " + name_);
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
    if (library().data(memory) == tensor.const_data_ptr()) {
      return library().view(tensor, memory);
    }
  }
  return clone_outputs ? library().copy(tensor) : library().share(tensor, owner);
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
  if (inputs.size() > 0 || inputs_.values.empty()) {
    set_inputs(inputs);
  }
  execute();
  return get_outputs(owner, clone_outputs);
}

py::object MethodRunner::get_attribute(const std::string& name, const py::object& owner,
                                       bool clone) {
  const GuardedModule::Use use(*module_);
  const LogCapture capture;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the one way to a method's attributes
  const auto method = use->method(name_);
#pragma GCC diagnostic pop
  capture.check(method.error(), "Method " + name_);
  const auto tensor = capture.take(method.get()->get_attribute(name),
                                   "Method " + name_ + " has no attribute " + name);
  return clone ? library().copy(tensor) : library().share(tensor, owner);
}

}  // namespace executorch::extension::pybindings
