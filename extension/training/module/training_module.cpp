// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/module/training_module.h>

namespace executorch::extension::training {

using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;

namespace {

// Outputs [first, first + names.size()), by name.
Result<std::map<std::string_view, Tensor>> named(const std::vector<EValue>& outputs, size_t first,
                                                 const std::vector<EValue>& names,
                                                 const std::string& method_name) {
  ET_CHECK_OR_RETURN_ERROR(first <= outputs.size() && names.size() <= outputs.size() - first,
                           InvalidProgram,
                           "Method %s has %zu outputs; expected %zu gradients or parameters from "
                           "output %zu on",
                           method_name.c_str(), outputs.size(), names.size(), first);
  std::map<std::string_view, Tensor> result;
  for (size_t i = 0; i < names.size(); ++i) {
    const EValue& value = outputs[first + i];
    ET_CHECK_OR_RETURN_ERROR(
        names[i].isString() && value.isTensor(), InvalidProgram,
        "Method %s: output %zu is no tensor with a name, but a value of kind %s",
        method_name.c_str(), first + i, runtime::tag_to_string(value.tag));
    result.insert_or_assign(names[i].toString(), value.toTensor());
  }
  return result;
}

}  // namespace

Result<size_t> TrainingModule::place(const char* of, const std::string& method_name) {
  const std::string getter = std::string("__et_training_") + of + "_index_" + method_name;
  const EValue value = ET_UNWRAP(get(getter));
  ET_CHECK_OR_RETURN_ERROR(value.isInt() && value.toInt() >= 0, InvalidProgram,
                           "Method %s: expected an index, got a value of kind %s", getter.c_str(),
                           runtime::tag_to_string(value.tag));
  return static_cast<size_t>(value.toInt());
}

Result<TrainingModule::Trained*> TrainingModule::trained(const std::string& method_name) {
  const auto found = trained_.find(method_name);
  if (found != trained_.end()) {
    return &found->second;
  }
  const std::string names_getter = "__et_training_fqn_" + method_name;
  ET_CHECK_OR_RETURN_ERROR(
      ET_UNWRAP(method_names()).count(names_getter) > 0, InvalidArgument,
      "Method %s computes no gradients, or there is no such method: export it with "
      "torch.export.experimental._export_forward_backward",
      method_name.c_str());
  const std::vector<EValue> names = ET_UNWRAP(execute(names_getter));
  const std::vector<EValue> outputs = ET_UNWRAP(get_outputs(method_name));
  Trained result;
  result.num_user_outputs = ET_UNWRAP(place("gradients", method_name));
  result.gradients = ET_UNWRAP(named(outputs, result.num_user_outputs, names, method_name));
  result.parameters =
      ET_UNWRAP(named(outputs, ET_UNWRAP(place("parameters", method_name)), names, method_name));
  return &trained_.emplace(method_name, std::move(result)).first->second;
}

Result<std::vector<EValue>> TrainingModule::execute_forward_backward(
    const std::string& method_name, const std::vector<EValue>& input) {
  Trained* const known = ET_UNWRAP(trained(method_name));
  std::vector<EValue> outputs = ET_UNWRAP(execute(method_name, input));
  known->has_run = true;
  outputs.resize(known->num_user_outputs);
  return outputs;
}

Result<const std::map<std::string_view, Tensor>> TrainingModule::named_parameters(
    const std::string& method_name) {
  return ET_UNWRAP(trained(method_name))
  ->parameters;
}

Result<const std::map<std::string_view, Tensor>> TrainingModule::named_gradients(
    const std::string& method_name) {
  const auto known = trained_.find(method_name);
  ET_CHECK_OR_RETURN_ERROR(known != trained_.end() && known->second.has_run, InvalidArgument,
                           "Method %s has no gradients yet: execute_forward_backward() first",
                           method_name.c_str());
  return known->second.gradients;
}

Result<const std::map<std::string_view, Tensor>> TrainingModule::named_attributes(
    const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load_method(method_name));
  const MethodMeta meta = ET_UNWRAP(method_meta(method_name));
  NamedTensors result;
  for (size_t i = 0; i < meta.num_attributes(); ++i) {
    const auto name = ET_UNWRAP(meta.attribute_tensor_meta(i))
    .name();
    result.insert_or_assign(name, ET_UNWRAP(methods_.at(method_name).method->get_attribute(name)));
  }
  return result;
}

}  // namespace executorch::extension::training
