// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/arguments.h>

namespace executorch::backends::arm::vgf {

using executorch::aten::ScalarType;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::TensorArguments;
using runtime::TensorRule;
using runtime::TensorView;

namespace {

constexpr char kName[] = "VgfBackend";

/// The dtype that the argument has, where the format takes it, else the usual one of the format.
TensorRule rule_of(const EValue& value, const Format& format) {
  ScalarType dtype = format.dtypes[0];
  for (const ScalarType each : format.dtypes) {
    if (value.isTensor() && each != ScalarType::Undefined &&
        value.toTensor().scalar_type() == each) {
      dtype = each;
    }
  }
  return {dtype, runtime::kAnyRank, false};
}

Error check_size(const char* kind, size_t index, const TensorView& tensor,
                 const Resource& resource) {
  ET_CHECK_OR_RETURN_ERROR(tensor.nbytes() == resource.num_bytes, InvalidArgument,
                           "%s: %s %zu: expected %zu bytes of %s, found %zu", kName, kind, index,
                           resource.num_bytes, resource.format->name, tensor.nbytes());
  return Error::Ok;
}

}  // namespace

Result<Arguments> Arguments::of(Span<EValue*> args, const std::vector<Resource>& resources,
                                const std::vector<uint32_t>& inputs,
                                const std::vector<uint32_t>& outputs) {
  const auto all = ET_UNWRAP(TensorArguments::of(kName, args, inputs.size(), outputs.size()));
  Arguments out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Resource& resource = resources[inputs[i]];
    out.inputs.push_back(ET_UNWRAP(all.input(i, rule_of(*args[i], *resource.format))));
    ET_CHECK_OK_OR_RETURN_ERROR(check_size("input", i, out.inputs.back(), resource));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Resource& resource = resources[outputs[i]];
    const EValue& value = *args[inputs.size() + i];
    out.outputs.push_back(ET_UNWRAP(all.output(i, rule_of(value, *resource.format))));
    const TensorView& tensor = out.outputs.back();
    ET_CHECK_OK_OR_RETURN_ERROR(check_size("output", i, tensor, resource));
    ET_CHECK_OK_OR_RETURN_ERROR(tensor.resize(tensor.sizes()));
  }
  return out;
}

}  // namespace executorch::backends::arm::vgf
