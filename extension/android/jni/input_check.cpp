// SPDX-License-Identifier: BSD-3-Clause
// Compares values with what a method declares.
#include <executorch/extension/android/jni/input_check.h>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch::extension::jni {

using runtime::EValue;
using runtime::MethodMeta;

namespace {

std::string to_text(const runtime::SizeRange& range) {
  return (range.min == range.max ? "" : std::to_string(range.min) + "..") +
         std::to_string(range.max);
}

std::string declared(const MethodMeta& meta, size_t index) {
  const auto tag = meta.input_tag(index);
  const auto info = meta.input_tensor_meta(index);
  if (!info.ok()) {
    return tag.ok() ? runtime::tag_to_string(*tag) : "nothing";
  }
  std::string sizes;
  for (size_t dim = 0; dim < info->sizes().size(); ++dim) {
    const auto range = meta.input_size_range(index, dim);
    sizes += (dim == 0 ? "" : ", ") + (range.ok() ? to_text(*range) : "?");
  }
  return std::string(runtime::toString(info->scalar_type())) + " [" + sizes + "]";
}

std::string to_text(const EValue& value) {
  if (!value.isTensor()) {
    return runtime::tag_to_string(value.tag);
  }
  std::string sizes;
  for (const auto size : value.toTensor().sizes()) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  return std::string(runtime::toString(value.toTensor().scalar_type())) + " [" + sizes + "]";
}

bool fits(const MethodMeta& meta, size_t index, const EValue& value) {
  const auto info = meta.input_tensor_meta(index);
  if (!info.ok() || !value.isTensor()) {
    const auto tag = meta.input_tag(index);
    return tag.ok() && *tag == value.tag;
  }
  const auto& tensor = value.toTensor();
  if (tensor.scalar_type() != info->scalar_type() ||
      tensor.sizes().size() != info->sizes().size()) {
    return false;
  }
  for (size_t dim = 0; dim < tensor.sizes().size(); ++dim) {
    const auto range = meta.input_size_range(index, dim);
    if (range.ok() && (tensor.sizes()[dim] < range->min || tensor.sizes()[dim] > range->max)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string first_misfit(const MethodMeta& meta, const std::vector<EValue>& inputs) {
  if (inputs.size() != meta.num_inputs()) {
    return "expected " + std::to_string(meta.num_inputs()) + " inputs, got " +
           std::to_string(inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!fits(meta, i, inputs[i])) {
      const std::string name(meta.input_name(i));
      return "input " + std::to_string(i) + (name.empty() ? "" : " (" + name + ")") +
             ": expected " + declared(meta, i) + ", got " + to_text(inputs[i]);
    }
  }
  return {};
}

}  // namespace executorch::extension::jni
