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
  static LateType numpy("numpy", "bool_");
  return py::isinstance<py::bool_>(value) || numpy.is_of(value);
}

bool is_int(py::handle value) {
  static LateType numpy("numpy", "integer");
  return py::isinstance<py::int_>(value) || numpy.is_of(value);
}

bool is_float(py::handle value) {
  static LateType numpy("numpy", "floating");
  return py::isinstance<py::float_>(value) || numpy.is_of(value);
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
  static LateType scalar_of_numpy("numpy", "generic");
  if (scalar_of_numpy.is_of(value)) {
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

const std::vector<MethodRunner::Expected>& MethodRunner::expected_inputs(Module& module) {
  if (!expected_inputs_.has_value()) {
    const LogCapture capture;
    const auto meta = capture.take(module.method_meta(name_), "Method " + name_);
    std::vector<Expected> found;
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      const std::string_view its_name = meta.input_name(i);
      const std::string name = "Method " + name_ + ", input " +
                               (its_name.empty() ? std::to_string(i) : std::string(its_name));
      found.push_back({name, capture.take(meta.input_tag(i), name), std::nullopt});
      if (found.back().tag == Tag::Tensor) {
        found.back().tensor = capture.take(meta.input_tensor_meta(i), name);
      }
    }
    expected_inputs_ = std::move(found);
  }
  return *expected_inputs_;
}

EValue MethodRunner::convert_input(py::handle value, const Expected& input,
                                   const ArrayLibrary* library, Inputs* inputs) const {
  const Tag expected = input.tag;
  if (library != nullptr && expected == Tag::Tensor) {
    inputs->tensors.push_back(borrow_tensor(*library, value, *input.tensor, input.name));
    if (inputs->library != &torch_library()) {
      inputs->library = library;
    }
    return EValue(*inputs->tensors.back());
  }
  if (value.is_none()) {
    return EValue();
  }
  if (expected == Tag::Bool && is_bool(value)) {
    return EValue(py::bool_(py::reinterpret_borrow<py::object>(value)).cast<bool>());
  }
  if (expected == Tag::Int && is_int(value)) {
    return EValue(to_int64(value, input.name));
  }
  if (expected == Tag::Double && (is_float(value) || is_int(value))) {
    return EValue(py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
  }
  if (expected == Tag::String && py::isinstance<py::str>(value)) {
    auto stored = std::make_unique<std::pair<std::string, ArrayRef<char>>>();
    stored->first = value.cast<std::string>();
    stored->second = ArrayRef<char>(stored->first.data(), stored->first.size());
    inputs->strings.push_back(std::move(stored));
    return EValue(&inputs->strings.back()->second);
  }
  fail_argument(input.name + ": expected a value of kind " +
                executorch::runtime::tag_to_string(expected) +
                (expected == Tag::Tensor ? " (torch.Tensor or numpy.ndarray)" : "") + ", got " +
                type_name(value) + (expected == Tag::Tensor ? advice_for(value) : ""));
}

void MethodRunner::set_inputs(const py::list& inputs) {
  const GuardedModule::Use use(*module_);
  const std::vector<Expected>& expected = expected_inputs(*use);
  if (inputs.size() != expected.size()) {
    fail_count(*use, inputs);
  }
  Inputs next;
  for (size_t i = 0; i < expected.size(); ++i) {
    py::object value = inputs[i];
    const ArrayLibrary* const library = library_of(value);
    if (library != nullptr) {
      value = library->plain(value, expected[i].name);
    }
    next.values.push_back(convert_input(value, expected[i], library, &next));
    next.owners.push_back(std::move(value));
  }
  inputs_ = std::move(next);
}

void MethodRunner::fail_count(Module& module, const py::list& inputs) const {
  const LogCapture capture;
  const auto meta = capture.take(module.method_meta(name_), "Method " + name_);
  std::string advice;
  for (const py::handle value : inputs) {
    advice = advice.empty() ? advice_for_nested(value) : advice;
  }
  fail_argument("Method " + signature(meta) + ": expected " + std::to_string(meta.num_inputs()) +
                " inputs, got " + std::to_string(inputs.size()) + advice);
}

const ArrayLibrary& MethodRunner::library() const {
  return inputs_.library != nullptr ? *inputs_.library : default_library();
}

std::vector<MethodRunner::Unplanned>& MethodRunner::unplanned_outputs(Module& module) {
  if (!unplanned_outputs_.has_value()) {
    const LogCapture capture;
    const std::string what = "Method " + name_ + ": cannot give memory to the outputs";
    const auto meta = capture.take(module.method_meta(name_), what);
    std::vector<Unplanned> found;
    for (size_t i = 0; i < meta.num_outputs(); ++i) {
      if (capture.take(meta.output_tag(i), what) != Tag::Tensor) {
        continue;
      }
      const auto info = capture.take(meta.output_tensor_meta(i), what);
      if (!info.is_memory_planned() && info.nbytes() > 0) {
        const TensorPtr tensor = make_tensor_ptr({info.sizes().begin(), info.sizes().end()},
                                                 nullptr, info.scalar_type());
        found.push_back({i, info.nbytes(), tensor, nullptr});
      }
    }
    unplanned_outputs_ = std::move(found);
  }
  return *unplanned_outputs_;
}

void MethodRunner::prepare_outputs(Module& module) {
  const LogCapture capture;
  for (Unplanned& output : unplanned_outputs(module)) {
    output.memory = make_memory(output.num_bytes);
    output.tensor->unsafeGetTensorImpl()->set_data(output.memory.get());
    capture.check(module.set_output(name_, EValue(*output.tensor), output.index),
                  "Method " + name_ + ": cannot give memory to the outputs");
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
  if (!tensor.device().is_cpu()) {
    fail_argument("An output of method " + name_ +
                  " is in the memory of another device, which Python does not read: export without "
                  "skip_d2h_for_method_outputs");
  }
  if (unplanned_outputs_.has_value()) {
    for (const Unplanned& output : *unplanned_outputs_) {
      if (output.memory.get() == tensor.const_data_ptr()) {
        return library().view(tensor, output.memory);
      }
    }
  }
  return clone_outputs || tensor.nbytes() == 0 ? library().copy(tensor)
                                               : library().share(tensor, owner);
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

py::list MethodRunner::run(const py::list& inputs, const py::object& owner, bool clone_outputs) {
  set_inputs(inputs);
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
  return clone || tensor.nbytes() == 0 ? library().copy(tensor) : library().share(tensor, owner);
}

}  // namespace executorch::extension::pybindings
