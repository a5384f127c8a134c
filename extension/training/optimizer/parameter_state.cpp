// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/optimizer/parameter_state.h>

#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace executorch::extension::training::optimizer {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;

namespace {

// "[2, 3] in order [0, 1]"
std::string layout(const Tensor& tensor) {
  const auto list = [](const auto& numbers) {
    std::string text;
    for (const auto number : numbers) {
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    }
    return "[" + text + "]";
  };
  return list(tensor.sizes()) + " in order " + list(tensor.dim_order());
}

}  // namespace

ParameterState::ParameterState(const Tensor& parameter,
                               const std::vector<const char*>& buffer_names)
    : steps_(make_tensor_ptr<int64_t>(0)), names_(buffer_names) {
  const auto sizes = parameter.sizes();
  const auto order = parameter.dim_order();
  for (size_t i = 0; i < names_.size(); ++i) {
    buffers_.push_back(make_tensor_ptr<float>(
        {sizes.begin(), sizes.end()}, std::vector<float>(static_cast<size_t>(parameter.numel())),
        {order.begin(), order.end()}, {}, ScalarType::Float,
        executorch::aten::TensorShapeDynamism::STATIC));
  }
}

void ParameterState::list(std::string_view parameter, std::map<std::string, Tensor>& out) const {
  const std::string prefix = "state." + std::string(parameter) + ".";
  out.insert_or_assign(prefix + "step", *steps_);
  for (size_t i = 0; i < names_.size(); ++i) {
    out.insert_or_assign(prefix + names_[i], *buffers_[i]);
  }
}

Error check_gradient(std::string_view name, const Tensor& parameter, const Tensor& gradient) {
  const std::string text(name);  // for its terminating zero
  for (const Tensor* tensor : {&parameter, &gradient}) {
    ET_CHECK_OR_RETURN_ERROR(tensor->scalar_type() == ScalarType::Float, InvalidArgument,
                             "Parameter %s: expected values and gradient of type Float, got %s",
                             text.c_str(), runtime::toString(tensor->scalar_type()));
    ET_CHECK_OR_RETURN_ERROR(tensor->const_data_ptr() != nullptr || tensor->numel() == 0,
                             InvalidArgument,
                             "Parameter %s or its gradient has no memory: plan the method's "
                             "outputs, or give it memory with set_output()",
                             text.c_str());
  }
  ET_CHECK_OR_RETURN_ERROR(
      parameter.sizes() == gradient.sizes() && parameter.dim_order() == gradient.dim_order(),
      InvalidArgument, "Parameter %s has sizes %s; expected a gradient of the same, got %s",
      text.c_str(), layout(parameter).c_str(), layout(gradient).c_str());
  return Error::Ok;
}

}  // namespace executorch::extension::training::optimizer
