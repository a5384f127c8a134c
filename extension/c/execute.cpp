// SPDX-License-Identifier: BSD-3-Clause
// Values into a module, and out of it.
#include <executorch/extension/c/module_object.h>

#include <algorithm>

#include <executorch/extension/c/structs.h>

namespace executorch::extension::c {

using executorch::aten::ArrayRef;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
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
Error read_inputs(ModuleObject& object, Span<const ExecuTorchValue> inputs,
                  std::vector<ArrayRef<char>>& texts) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(inputs.data(), inputs.size(), "inputs"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    object.pins.emplace_back();
    if (inputs[i].kind == EXECUTORCH_STRING && texts.empty()) {
      texts.resize(inputs.size());
    }
    ArrayRef<char>* const text = texts.empty() ? nullptr : &texts[i];
    object.values.push_back(
        ET_UNWRAP(read_value(inputs[i], &object.pins.back(), text), "input %zu is no value", i));
  }
  return Error::Ok;
}

// However the call ends, it keeps nothing.
struct Borrowed {
  ModuleObject& object;
  ~Borrowed() {
    object.pins.clear();
    object.values.clear();
  }
};

size_t count_names(Span<const ExecuTorchValue> inputs) {
  return static_cast<size_t>(
      std::count_if(inputs.begin(), inputs.end(),
                    [](const ExecuTorchValue& each) { return each.name != nullptr; }));
}

Result<std::vector<EValue>> run_by_name(Module& module, const std::string& method,
                                        Span<const ExecuTorchValue> inputs,
                                        const std::vector<EValue>& values) {
  ET_CHECK_OR_RETURN_ERROR(count_names(inputs) == inputs.size(), InvalidArgument,
                           "expected all %zu inputs by name or all by place, found %zu names",
                           inputs.size(), count_names(inputs));
  std::vector<NamedValue> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    named.emplace_back(inputs[i].name, values[i]);
  }
  return module.execute(method, named);
}

Result<ExecuTorchValue> write_value(const EValue& value, LentTensor& lent) {
  ExecuTorchValue result{};
  result.kind = static_cast<int32_t>(value.tag);
  switch (value.tag) {
    case Tag::None:
      return result;
    case Tag::Tensor:
      result.tensor = ET_UNWRAP(lent.lend(value.toTensor()));
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

}  // namespace

Result<size_t> call_method(ModuleObject& object, MethodRecord& method,
                           Span<const ExecuTorchValue> inputs, Span<ExecuTorchValue> outputs,
                           Run run) {
  const Borrowed borrowed{object};
  std::vector<ArrayRef<char>> texts;
  ET_CHECK_OK_OR_RETURN_ERROR(read_inputs(object, inputs, texts));
  const std::vector<EValue> found = ET_UNWRAP(run(object.values));
  ET_CHECK_OR_RETURN_ERROR(found.size() <= outputs.size(), InvalidArgument,
                           "method %s: expected room for %zu outputs, found %zu",
                           method.name.c_str(), found.size(), outputs.size());
  std::vector<LentTensor>& lent = method.started().outputs;
  lent.resize(std::max(lent.size(), found.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    outputs[i] = ET_UNWRAP(write_value(found[i], lent[i]));
  }
  return found.size();
}

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
    auto& slot = ET_UNWRAP(pin->record(method))
    ->started().inputs;
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
    ET_UNWRAP(pin->record(method))
    ->started().outputs_to[index] = std::move(to);
    return Error::Ok;
  });
}

ExecuTorchStatus execute(ExecuTorchModule module, const char* method, const ExecuTorchValue* inputs,
                         size_t num_inputs, ExecuTorchValue* outputs, size_t num_outputs) noexcept {
  return guard("execute", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(outputs, num_outputs, "outputs"));
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    MethodRecord& record = *ET_UNWRAP(pin->record(method));
    ET_CHECK_OR_RETURN_ERROR(num_outputs >= record.num_outputs, InvalidArgument,
                             "method %s: expected room for %zu outputs, found %zu",
                             record.name.c_str(), record.num_outputs, num_outputs);
    const Span<const ExecuTorchValue> given(inputs, num_inputs);
    const auto run = [&](const std::vector<EValue>& values) {
      return count_names(given) == 0 ? pin->module->execute(record.name, values)
                                     : run_by_name(*pin->module, record.name, given, values);
    };
    return call_method(*pin, record, given, {outputs, num_outputs}, run).error();
  });
}

}  // namespace executorch::extension::c
