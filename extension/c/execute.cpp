// SPDX-License-Identifier: BSD-3-Clause
// Values into a module, and out of it.
#include <executorch/extension/c/module_object.h>
#include <executorch/extension/c/structs.h>

namespace executorch::extension::c {

using executorch::aten::ArrayRef;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Tag;

namespace {

// `characters` is where the value's text is kept.
Result<EValue> read_value(const ExecuTorchValue& given, Pin<TensorObject>* pin,
                          ArrayRef<char>* characters) {
  switch (given.kind) {
    case EXECUTORCH_NONE:
      return EValue();
    case EXECUTORCH_TENSOR:
      *pin = ET_UNWRAP(Pin<TensorObject>::take(given.tensor));
      return EValue((*pin)->tensor);
    case EXECUTORCH_STRING:
      ET_CHECK_OK_OR_RETURN_ERROR(check_array(given.text, given.text_size, "bytes of text"));
      *characters = ArrayRef<char>(given.text, given.text_size);
      return EValue(characters);
    case EXECUTORCH_DOUBLE:
      return EValue(given.number);
    case EXECUTORCH_INT:
      return EValue(given.integer);
    case EXECUTORCH_BOOLEAN:
      return EValue(given.integer != 0);
    default:
      ET_LOG(Error, "expected a value's kind from 0 to %d, found %d", EXECUTORCH_BOOLEAN,
             given.kind);
      return Error::InvalidArgument;
  }
}

// The values of a call; the object's pins hold them.
Error read_inputs(ModuleObject& object, const ExecuTorchValue* inputs, size_t num_inputs,
                  std::vector<ArrayRef<char>>& texts) {
  for (size_t i = 0; i < num_inputs; ++i) {
    object.pins.emplace_back();
    if (inputs[i].kind == EXECUTORCH_STRING && texts.empty()) {
      texts.resize(num_inputs);
    }
    ArrayRef<char>* const text = texts.empty() ? nullptr : &texts[i];
    object.values.push_back(
        ET_UNWRAP(read_value(inputs[i], &object.pins.back(), text), "input %zu is no value", i));
  }
  return Error::Ok;
}

Result<std::vector<EValue>> run(ModuleObject& object, const std::string& method,
                                const ExecuTorchValue* inputs, size_t num_inputs) {
  size_t num_named = 0;
  for (size_t i = 0; i < num_inputs; ++i) {
    num_named += inputs[i].name != nullptr ? 1 : 0;
  }
  if (num_named == 0) {
    return object.module->execute(method, object.values);
  }
  ET_CHECK_OR_RETURN_ERROR(num_named == num_inputs, InvalidArgument,
                           "expected all %zu inputs by name or all by place, found %zu names",
                           num_inputs, num_named);
  std::vector<NamedValue> named;
  for (size_t i = 0; i < num_inputs; ++i) {
    named.emplace_back(inputs[i].name, object.values[i]);
  }
  return object.module->execute(method, named);
}

// The module's handle for an output, of which the tensor may have become another one.
Result<Handle> handle_of(Handle known, const executorch::aten::Tensor& tensor) {
  if (is_live(known)) {
    ET_UNWRAP(Pin<TensorObject>::take(known))
    ->tensor = tensor;
    return known;
  }
  return make_handle<TensorObject>(tensor);
}

Result<ExecuTorchValue> write_value(const EValue& value, Handle& handle) {
  ExecuTorchValue result{};
  result.kind = static_cast<int32_t>(value.tag);
  switch (value.tag) {
    case Tag::None:
      return result;
    case Tag::Tensor:
      result.tensor = handle = ET_UNWRAP(handle_of(handle, value.toTensor()));
      return result;
    case Tag::String: {
      const std::string_view text = value.toString();
      result.text = text.data();
      result.text_size = text.size();
      return result;
    }
    case Tag::Double:
      result.number = value.toDouble();
      return result;
    case Tag::Int:
      result.integer = value.toInt();
      return result;
    case Tag::Bool:
      result.integer = value.toBool() ? 1 : 0;
      return result;
    default:
      ET_LOG(Error, "an output is %s, which is no value of this interface",
             runtime::tag_to_string(value.tag));
      return Error::NotSupported;
  }
}

Error run_and_write(ModuleObject& object, const std::string& method, const ExecuTorchValue* inputs,
                    size_t num_inputs, ExecuTorchValue* outputs) {
  std::vector<ArrayRef<char>> texts;
  ET_CHECK_OK_OR_RETURN_ERROR(read_inputs(object, inputs, num_inputs, texts));
  const std::vector<EValue> found = ET_UNWRAP(run(object, method, inputs, num_inputs));
  std::vector<Handle>& handles = object.states[method].outputs;
  handles.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    outputs[i] = ET_UNWRAP(write_value(found[i], handles[i]));
  }
  return Error::Ok;
}

}  // namespace

ExecuTorchStatus set_input(ExecuTorchModule module, const char* method, size_t index,
                           const ExecuTorchValue* value) noexcept {
  return guard("set_input", [&]() -> Error {
    ET_C_NOT_NULL(value);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const std::string name = name_of_method(method);
    ET_CHECK_OK_OR_RETURN_ERROR(pin->module->load_method(name));
    // Where it stays: the method keeps what refers to it.
    HeldValue held;
    ExecuTorchValue given = *value;
    if (given.kind == EXECUTORCH_STRING) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_array(given.text, given.text_size, "bytes of text"));
      held.text.assign(given.text == nullptr ? "" : given.text, given.text_size);
    }
    auto& slot = pin->states[name].inputs;
    HeldValue before;
    std::swap(before, slot[index]);
    std::swap(held, slot[index]);
    given.text = slot[index].text.data();
    auto put = [&]() -> Error {
      const EValue read =
          ET_UNWRAP(read_value(given, &slot[index].tensor, &slot[index].characters));
      return pin->module->set_input(name, read, index);
    };
    const Error error = put();
    if (error != Error::Ok) {
      std::swap(before, slot[index]);
    }
    return error;
  });
}

ExecuTorchStatus set_output(ExecuTorchModule module, const char* method, size_t index,
                            ExecuTorchTensor tensor) noexcept {
  return guard("set_output", [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    auto to = ET_UNWRAP(Pin<TensorObject>::take(tensor));
    const std::string name = name_of_method(method);
    ET_CHECK_OK_OR_RETURN_ERROR(pin->module->set_output(name, EValue(to->tensor), index));
    pin->states[name].outputs_to[index] = std::move(to);
    return Error::Ok;
  });
}

ExecuTorchStatus execute(ExecuTorchModule module, const char* method, const ExecuTorchValue* inputs,
                         size_t num_inputs, ExecuTorchValue* outputs, size_t num_outputs) noexcept {
  return guard("execute", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(inputs, num_inputs, "inputs"));
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(outputs, num_outputs, "outputs"));
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const std::string name = name_of_method(method);
    const size_t count = ET_UNWRAP(pin->facts_of(name))
    ->num_outputs;
    ET_CHECK_OR_RETURN_ERROR(num_outputs >= count, InvalidArgument,
                             "method %s: expected room for %zu outputs, found %zu", name.c_str(),
                             count, num_outputs);
    pin->pins.clear();
    pin->values.clear();
    const Error error = run_and_write(*pin, name, inputs, num_inputs, outputs);
    pin->pins.clear();
    return error;
  });
}

}  // namespace executorch::extension::c
